package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.Training;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.Set;
import java.util.stream.Collectors;

/** The Node object with the real kubelet is deleted under an installation, and made anew by the kubelet. */
final class DeletedNode {
    private final RealCluster cluster;
    private final Installation installation;
    private final InstalledNode node;

    private DeletedNode(RealCluster cluster, Installation installation, InstalledNode node) {
        this.cluster = cluster;
        this.installation = installation;
        this.node = node;
    }

    /** It has an open fault and a running GPU pod, both of which are there afterwards. */
    static void comesBack(RealCluster cluster, Installation installation, InstalledNode node) throws Exception {
        new DeletedNode(cluster, installation, node).comesBack();
    }

    private void comesBack() throws Exception {
        String training = Training.start(cluster);
        int failing = Training.gpuThatItLeaves(cluster);
        node.fail(failing);
        node.awaitTaint();
        Set<String> pods = pods();

        newObject(cluster);

        node.awaitTaint();
        node.awaitLabel("nvidia.com/gpu.count", "8");
        node.awaitGpus(7);
        assertThat(installation.appliedFields()).containsEntry("condition GpuUnhealthy", "True");
        assertThat(pods()).isEqualTo(pods);
        assertThat(Training.state(cluster)).isEqualTo(training);
        Training.end(cluster);
        node.recover(failing);
        node.awaitNoTaint();
        node.awaitGpus(8);
    }

    /** Deletes the Node while its kubelet is down, and returns when the kubelet has made it again. */
    static void newObject(RealCluster cluster) {
        String before = cluster.node().getMetadata().getUid();
        cluster.stopKubelet();
        Kubectl.run("delete", "node", cluster.nodeName());
        cluster.startKubelet();
        await().atMost(InstalledNode.EFFECT).ignoreExceptions().untilAsserted(() -> {
            assertThat(cluster.node().getMetadata().getUid()).isNotEqualTo(before);
            assertThat(cluster.node().getStatus().getConditions())
                    .anyMatch(condition -> condition.getType().equals("Ready")
                            && condition.getStatus().equals("True"));
        });
    }

    /** UIDs of all pods of the installation. */
    private Set<String> pods() {
        return Set.of(Installation.SERVICES, Installation.NODES).stream()
                .flatMap(namespace -> cluster.client().pods().inNamespace(namespace).list().getItems().stream())
                .map(pod -> pod.getMetadata().getUid())
                .collect(Collectors.toSet());
    }
}
