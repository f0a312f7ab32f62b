package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.DoctorReport;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.testbed.testkit.RealCluster;

/** The component {@code mig}, with the strategy mixed and then single, on a node whose GPUs are split. */
final class MigDevices {
    private static final String DEVICES = "simulated:8xH100:mig=7x1g.10gb";
    private static final String POD = "gpufleet-it-mig";

    private MigDevices() {}

    /** Offers them by both strategies, runs pods with them, and returns to GPUs that are not split. */
    static void offer(RealCluster cluster, Installation installation, InstalledNode node) throws Exception {
        installation.daemon().use(DEVICES, "components/mig/mixed");
        DoctorReport.assertStrategyDoesNotFit();
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatable("nvidia.com/mig-1g.10gb"))
                        .isEqualTo(56));
        assertThat(cluster.allocatableGpus()).isZero();
        Samples.run(cluster, "mig.yaml");
        node.awaitLabel("nvidia.com/mig.strategy", "mixed");

        installation.daemon().use(DEVICES, "components/mig/single");
        node.awaitGpus(56);
        cluster.runPod("default", POD, 14, "echo devices=$NVIDIA_VISIBLE_DEVICES");
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(
                        () -> assertThat(cluster.podState("default", POD)).startsWith("Succeeded"));
        cluster.deletePod("default", POD);
        node.awaitLabel("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb");

        installation.daemon().use("simulated:8xH100", "");
        node.awaitGpus(8);
    }
}
