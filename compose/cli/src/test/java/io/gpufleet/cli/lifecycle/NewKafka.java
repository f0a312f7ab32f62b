package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A new installation with an empty Kafka, on a node that is as a delete of the former installation left it. */
final class NewKafka {
    private NewKafka() {}

    /** Every service becomes ready on the tainted node, and its taint goes and comes by the new events. */
    static void takesOverTaintedNode(
            RealCluster cluster, Installation installation, InstalledNode node, List<String> services, Path directory)
            throws Exception {
        Map<String, String> left = installation.appliedFields();
        assertThat(left).containsKeys(InstalledNode.TAINT, InstalledNode.GPU_TAINT, "annotation gpufleet.io/applied");
        try (var broker = BrokerProcess.startOn(directory, Installation.nodeAddress(cluster))) {
            installation.useKafka(broker.remoteBootstrap());

            installation.apply();

            services.forEach(installation::awaitReady);
            // The GPU that failed under the former installation fails still
            node.awaitGpus(7);
            assertThat(installation.appliedFields()).containsKeys(InstalledNode.TAINT, InstalledNode.GPU_TAINT);
            assertThat(installation.restarts(Installation.SERVICES)).isZero();
            node.recover(3);
            node.awaitNoTaint();
            node.awaitGpus(8);
            node.fail(5);
            node.awaitTaint();
            node.awaitGpus(7);
            assertThat(installation.appliedFields())
                    .containsKey(InstalledNode.GPU_TAINT)
                    .doesNotContainEntry("annotation gpufleet.io/applied", left.get("annotation gpufleet.io/applied"));
            installation.delete();
        }
    }
}
