package io.gpufleet.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.testbed.testkit.TestGpus;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A standby continues from the state of the active replica. */
class InventoryFailoverIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private java.nio.file.Path dir;

    @Test
    void standbyTakesOverWithTheFullStateAndKeepsLabelling() throws Exception {
        try (var cluster = new TestCluster(dir);
                var first = new Shutdown();
                var second = new Shutdown();
                var daemon = cluster.daemon("n1")) {
            // Given
            var active = cluster.startReplica("inventory-service-0", first);
            await().atMost(SOON).until(() -> active.role().get().equals("ACTIVE"));
            cluster.createNode("n1", Map.of("nvidia.com/mig.config", "all-balanced"));
            daemon.announce(TestGpus.a100(8));
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(cluster.labels("n1")).containsEntry("gpu-type", "a100"));
            var standby = cluster.startReplica("inventory-service-1", second);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(
                                    TestCluster.get(standby, "/v1/nodes/n1").path("labels"))
                            .isNotEmpty());
            var before = TestCluster.get(standby, "/v1/nodes/n1");
            // When
            first.close();
            await().atMost(SOON).until(() -> standby.role().get().equals("ACTIVE"));
            // Then
            var after = TestCluster.get(standby, "/v1/nodes/n1");
            assertThat(after).isEqualTo(before);
            daemon.announce(TestGpus.h100(8));
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(cluster.labels("n1")).containsEntry("gpu-type", "h100"));
        }
    }

    @Test
    void nodeObjectDeletedWhileNoReplicaRanIsFoundAndItsNodeForgottenOnceItDeparts() throws Exception {
        try (var cluster = new TestCluster(dir);
                var daemon = cluster.daemon("n2")) {
            // Given
            try (var first = new Shutdown()) {
                var active = cluster.startReplica("inventory-service-0", first);
                cluster.createNode("n2", Map.of());
                daemon.announce(TestGpus.a100(1));
                await().atMost(SOON)
                        .untilAsserted(() -> assertThat(TestCluster.get(active, "/v1/nodes/n2")
                                        .path("uid")
                                        .asText())
                                .isNotEmpty());
            }
            // When
            cluster.kubernetes().nodes().withName("n2").delete();
            try (var second = new Shutdown()) {
                var next = cluster.startReplica("inventory-service-0", second);
                // Then
                await().atMost(SOON).untilAsserted(() -> {
                    var node = TestCluster.get(next, "/v1/nodes/n2");
                    assertThat(node.path("presence").asText()).isEqualTo("present");
                    assertThat(node.has("uid")).isFalse();
                });
                daemon.depart("shutdown");
                await().atMost(SOON)
                        .untilAsserted(() -> assertThat(TestCluster.get(next, "/v1/nodes/n2")
                                        .path("status")
                                        .asInt())
                                .isEqualTo(404));
            }
        }
    }
}
