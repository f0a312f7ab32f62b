package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.testbed.testkit.RealCluster;

/** The machine behind the Node with the real kubelet is replaced under an installation, while one of its GPUs fails. */
final class ReplacedNode {
    private static final int FAILING = 5;
    private static final String POD = "gpufleet-it-replaced";

    private final RealCluster cluster;
    private final Installation installation;
    private final InstalledNode node;

    private ReplacedNode(RealCluster cluster, Installation installation, InstalledNode node) {
        this.cluster = cluster;
        this.installation = installation;
        this.node = node;
    }

    /** The other machine has nothing of the fault and reports its own; the first one comes back with the fault that it had. */
    static void isAnotherMachine(RealCluster cluster, Installation installation, InstalledNode node) throws Exception {
        var replaced = new ReplacedNode(cluster, installation, node);
        replaced.otherMachine();
        replaced.firstMachineAgain();
    }

    /** It has the same name, fewer and other GPUs, and a directory of its own; the boot is the same, as this machine has one. */
    private void otherMachine() throws Exception {
        node.fail(FAILING);
        node.awaitTaint();
        installation.daemon().remove();
        node.recover(FAILING);

        DeletedNode.newObject(cluster);
        installation.daemon().startOnAnotherMachine("simulated:2xA100");

        node.awaitGpus(2);
        awaitNoFaultOf("2", "NVIDIA-A100");
        cluster.runPod("default", POD, 2, "ls /dev/nvidia[0-9]*");
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(
                        () -> assertThat(cluster.podState("default", POD)).startsWith("Succeeded"));
        assertThat(cluster.podLog("default", POD)).isEqualTo("/dev/nvidia0\n/dev/nvidia1\n");
        cluster.deletePod("default", POD);
        node.fail(1);
        node.awaitTaint();
        node.awaitGpus(1);
        node.recover(1);
        node.awaitGpus(2);
        awaitNoFaultOf("2", "NVIDIA-A100");
    }

    private void firstMachineAgain() throws Exception {
        installation.daemon().remove();
        node.fail(FAILING);

        DeletedNode.newObject(cluster);
        installation.daemon().startOnTheFirstMachine("simulated:8xH100");

        node.awaitGpus(7);
        node.awaitTaint();
        node.recover(FAILING);
        node.awaitGpus(8);
        awaitNoFaultOf("8", "NVIDIA-H100");
    }

    private void awaitNoFaultOf(String count, String product) {
        node.awaitLabel("nvidia.com/gpu.count", count);
        await().atMost(InstalledNode.EFFECT).untilAsserted(() -> {
            assertThat(cluster.label("nvidia.com/gpu.product")).startsWith(product);
            assertThat(installation.appliedFields())
                    .doesNotContainKey(InstalledNode.TAINT)
                    .doesNotContainEntry("condition GpuUnhealthy", "True");
        });
    }
}
