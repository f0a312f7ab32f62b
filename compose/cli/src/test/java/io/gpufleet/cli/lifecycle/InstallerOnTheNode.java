package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.RealCluster;

/** The component {@code driver-installer} in an installation, on a node without a GPU of NVIDIA. */
final class InstallerOnTheNode {
    private static final String LABEL = "gpufleet.io/driver-installer";

    private InstallerOnTheNode() {}

    /** Its state is a label and an Event of the Node until it is deleted. */
    static void reportsItsState(RealCluster cluster, Installation installation, InstalledNode node) throws Exception {
        installation.daemon().add("components/driver-installer");
        Kubectl.run("-n", Installation.NODES, "rollout", "status", "daemonset/driver-installer", "--timeout=60s");

        node.awaitLabel(LABEL, "no-gpu");
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(Kubectl.run(
                                "get", "events", "--field-selector", "reason=DriverNoGpu", "-o", "jsonpath={..name}"))
                        .contains(cluster.nodeName()));

        installation.daemon().add("");
        Kubectl.run("-n", Installation.NODES, "delete", "daemonset", "driver-installer", "--timeout=60s");
        node.awaitLabel(LABEL, "");
        assertThat(cluster.node().getMetadata().getAnnotations()).doesNotContainKey(LABEL);
    }
}
