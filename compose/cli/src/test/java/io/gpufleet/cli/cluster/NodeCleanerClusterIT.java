package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Cleaning of a Node on a real API server. */
class NodeCleanerClusterIT {
    private final String name =
            "gpufleet-it-cleaner-" + UUID.randomUUID().toString().substring(0, 8);

    @Test
    void taintsThatGpufleetAddedAreRemovedAndThoseOfOthersStay() {
        try (RealCluster cluster = RealCluster.open()) {
            KubernetesClient client = cluster.client();
            // Given
            Node node = client.resource(node()).create();
            try {
                // When
                var removed = new NodeCleaner(client).clean(node);
                // Then
                assertThat(removed)
                        .containsExactly(
                                "taint nvidia.com/gpu",
                                "taint gpufleet.io/unhealthy",
                                "annotation gpufleet.io/applied-node-taints");
                Node cleaned = client.nodes().withName(name).get();
                assertThat(cleaned.getSpec().getTaints())
                        .extracting(Taint::getKey)
                        .contains("example.com/rack", "example.com/gpu")
                        .doesNotContain("nvidia.com/gpu", "gpufleet.io/unhealthy");
                assertThat(new NodeCleaner(client).clean(cleaned)).isEmpty();
            } finally {
                client.nodes().withName(name).delete();
            }
        }
    }

    /** One listed taint was changed by an operator, so that it is theirs. */
    private Node node() {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToAnnotations(
                        "gpufleet.io/applied-node-taints",
                        "nvidia.com/gpu=present:NoSchedule,example.com/gpu:NoSchedule")
                .endMetadata()
                .withNewSpec()
                .addNewTaint("NoSchedule", "nvidia.com/gpu", null, "present")
                .addNewTaint("NoSchedule", "example.com/rack", null, "burning")
                .addNewTaint("NoSchedule", "example.com/gpu", null, "theirs")
                .addNewTaint("NoSchedule", "gpufleet.io/unhealthy", null, "Xid")
                .endSpec()
                .build();
    }
}
