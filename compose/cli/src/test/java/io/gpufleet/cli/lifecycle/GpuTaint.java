package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.PendingPod;
import io.gpufleet.cli.install.Training;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.Set;

/** The component {@code gpu-taint}, beside a pod that has GPUs when the taint comes; it stays until a purge. */
final class GpuTaint {
    private static final String NAMESPACE = "default";
    private static final String WITHOUT_TOLERATION = "gpufleet-it-without-toleration";

    private GpuTaint() {}

    /** The running pod and the services go on, a pod with the toleration runs, one without it stays Pending. */
    static void keepsOtherPodsAway(RealCluster cluster, Installation installation, InstalledNode node)
            throws Exception {
        String before = Training.start(cluster);
        Set<String> former = installation.pods("inventory-service");

        installation.addComponent("components/gpu-taint", "inventory-service");

        node.awaitField(InstalledNode.GPU_TAINT);
        assertThat(installation.pods("inventory-service")).hasSize(2).doesNotContainAnyElementsOf(former);
        Samples.run(cluster, "pods.yaml", "by-model");
        cluster.runPod(NAMESPACE, WITHOUT_TOLERATION, 1, "true");
        PendingPod.awaitReason(cluster, NAMESPACE, WITHOUT_TOLERATION, "untolerated taint");
        cluster.deletePod(NAMESPACE, WITHOUT_TOLERATION);
        assertThat(Training.state(cluster)).isEqualTo(before);
        Training.end(cluster);
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() ->
                        assertThat(installation.ready("inventory-service")).isEqualTo(2));
    }
}
