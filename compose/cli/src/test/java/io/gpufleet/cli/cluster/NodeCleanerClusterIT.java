package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
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

    @Test
    void cordonIsLiftedOnlyWhereWeMadeIt() {
        try (RealCluster cluster = RealCluster.open()) {
            for (boolean ours : List.of(true, false)) {
                // Given
                Node created = cluster.client().resource(node()).create();
                try {
                    var context = new PatchContext.Builder()
                            .withPatchType(PatchType.JSON)
                            .withFieldManager(ours ? "gpufleet-health" : "kubectl-cordon")
                            .build();
                    Node cordoned = cluster.client()
                            .nodes()
                            .withName(created.getMetadata().getName())
                            .patch(context, "[{\"op\":\"add\",\"path\":\"/spec/unschedulable\",\"value\":true}]");

                    // When
                    var removed = new NodeCleaner(cluster.client()).clean(cordoned);

                    // Then
                    assertThat(removed.contains("cordon")).isEqualTo(ours);
                    assertThat(cluster.client()
                                    .nodes()
                                    .withName(name)
                                    .get()
                                    .getSpec()
                                    .getUnschedulable())
                            .isEqualTo(ours ? null : Boolean.TRUE);
                } finally {
                    cluster.client().nodes().withName(name).delete();
                }
            }
        }
    }

    @Test
    void nodeThatAnotherWritesMeanwhileIsReadAgain() {
        try (RealCluster cluster = RealCluster.open()) {
            // Given another writer, just before the first write of the taints
            var others = new AtomicInteger();
            Interceptor writer = new Interceptor() {
                @Override
                public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                    if ("PATCH".equals(request.method()) && others.incrementAndGet() == 1) {
                        cluster.client()
                                .nodes()
                                .withName(name)
                                .patch(
                                        PatchContext.of(PatchType.JSON_MERGE),
                                        "{\"metadata\":{\"annotations\":{\"example.com/seen\":\"1\"}}}");
                    }
                }
            };
            Node node = cluster.client().resource(node()).create();
            try (var client = new KubernetesClientBuilder()
                    .withConfig(cluster.client().getConfiguration())
                    .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("writer", writer))
                    .build()) {
                // When
                var removed = new NodeCleaner(client).clean(node);
                // Then
                assertThat(removed).contains("taint gpufleet.io/unhealthy");
                Node cleaned = cluster.client().nodes().withName(name).get();
                assertThat(cleaned.getSpec().getTaints())
                        .extracting(Taint::getKey)
                        .doesNotContain("gpufleet.io/unhealthy");
                assertThat(cleaned.getMetadata().getAnnotations()).containsKey("example.com/seen");
            } finally {
                cluster.client().nodes().withName(name).delete();
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
