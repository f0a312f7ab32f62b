package io.gpufleet.cli.secured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;

/** A quota of two GPUs in force, by which the answer of the webhook shows. */
final class EnforcedQuota {
    static final String NAME = "gpufleet-it-secured";
    private static final String FILE = Repository.module("compose/cli/src/test/resources")
            .resolve(NAME + "-quota.yaml")
            .toString();

    private EnforcedQuota() {}

    /** A pod that fits runs, and the next one is refused with the pods that are counted. */
    static void refusesTheNextPod(RealCluster cluster, Installation installation) {
        Kubectl.run("apply", "-f", FILE);
        await().atMost(InstalledNode.EFFECT).untilAsserted(() -> {
            assertThat(installation.labels(NAME)).containsEntry("gpufleet.io/quota", "enforce");
            assertThat(installation.policies()).containsEntry("enforced.quota.gpufleet.io", "Fail");
        });
        cluster.runPod(NAME, "fits", 2, "sleep 600");
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(cluster.podState(NAME, "fits")).startsWith("Running"));

        assertThatThrownBy(() -> cluster.runPod(NAME, "next", 1, "true"))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("admission webhook \"enforced.quota.gpufleet.io\" denied the request: GpuQuota "
                        + NAME + ": limit 2 H100, used 2 (" + NAME + "/fits 2), requested 1");
        cluster.deletePod(NAME, "fits");
    }
}
