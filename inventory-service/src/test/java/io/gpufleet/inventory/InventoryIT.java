package io.gpufleet.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.proto.inventory.v1.GetNodeRequest;
import io.gpufleet.proto.inventory.v1.InventoryServiceGrpcClient;
import io.gpufleet.proto.inventory.v1.ListNodesRequest;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.wire.Topic;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replicas of the service against a real broker and the fake API server. */
class InventoryIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private static Path dir;

    private static TestCluster cluster;
    private static final Shutdown FIRST = new Shutdown();
    private static final Shutdown SECOND = new Shutdown();
    private static InventoryMain.RunningReplica active;
    private static InventoryMain.RunningReplica standby;

    @BeforeAll
    static void open() throws Exception {
        cluster = new TestCluster(dir);
        active = cluster.startReplica("inventory-service-0", FIRST);
        await().atMost(SOON).until(() -> active.role().get().equals("ACTIVE"));
        standby = cluster.startReplica("inventory-service-1", SECOND);
        await().atMost(SOON).until(() -> standby.role().get().equals("STANDBY"));
    }

    @AfterAll
    static void publishedRecordsFitTheContract() {
        SECOND.close();
        FIRST.close();
        var published = cluster.published();
        cluster.close();
        assertThat(published).containsKeys("node.viewed.v1", "settings.chosen.v1", "active.changed.v1");
    }

    @Test
    void announcedNodeIsLabelledAndEveryReplicaShowsIt() throws Exception {
        cluster.createNode("n1", Map.of());
        try (var daemon = cluster.daemon("n1")) {
            daemon.announce(TestGpus.a100(8));

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(cluster.labels("n1"))
                            .containsEntry("nvidia.com/gpu.count", "8")
                            .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB")
                            .containsEntry("nvidia.com/cuda.runtime-version.full", "12.4")
                            .containsEntry("accelerator", "nvidia-tesla-a100"));
            for (var replica : List.of(active, standby)) {
                await().atMost(SOON)
                        .untilAsserted(() -> assertThat(
                                        TestCluster.get(replica, "/v1/nodes/n1").path("devices"))
                                .hasSize(8));
                assertThat(TestCluster.get(replica, "/v1/devices?node=n1&limit=3")
                                .get("items"))
                        .hasSize(3);
                assertThat(TestCluster.get(replica, "/readyz").get("ok").asBoolean())
                        .isTrue();
            }

            // Labels that are no longer desired are removed: this driver has no CUDA version.
            daemon.announce(TestGpus.h100(4).withoutCuda());
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(cluster.labels("n1"))
                            .containsEntry("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
                            .containsEntry("nvidia.com/gpu.count", "4")
                            .doesNotContainKey("nvidia.com/cuda.runtime-version.full"));

            daemon.depart("shutdown");
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(TestCluster.get(standby, "/v1/nodes/n1")
                                    .path("presence")
                                    .asText())
                            .isEqualTo("departed"));
            assertThat(cluster.labels("n1")).containsEntry("gpu-type", "h100");
        }
    }

    @Test
    void labelOfAnotherManagerIsKeptAndReported() throws Exception {
        cluster.createNode("n2", Map.of("accelerator", "mine"));
        try (var daemon = cluster.daemon("n2")) {
            daemon.announce(TestGpus.a100(1));

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(TestCluster.get(active, "/v1/nodes/n2")
                                    .at("/labelConflicts/0")
                                    .asText())
                            .isEqualTo("accelerator"));
            assertThat(cluster.labels("n2"))
                    .containsEntry("accelerator", "mine")
                    .containsEntry("gpu-type", "a100");
        }
    }

    @Test
    void nodeOfAnotherBootIsNotLabelledBeforeItsAnnouncement() {
        cluster.createNode("n3", Map.of());
        try (var daemon = cluster.daemon("n3")) {
            daemon.announce(daemon.announcement(TestGpus.a100(1))
                    .setBootId("boot-previous")
                    .build());
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(TestCluster.get(active, "/v1/nodes/n3")
                                    .path("uid")
                                    .asText())
                            .isNotEmpty());
            assertThat(cluster.labels("n3")).isNullOrEmpty();

            daemon.announce(TestGpus.a100(1));
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(cluster.labels("n3")).containsEntry("gpu-type", "a100"));
        }
    }

    @Test
    void settingsLabelsReachTheDaemonsTopic() {
        cluster.createNode("n4", Map.of("nvidia.com/device-plugin.config", "small"));
        try (var reader = cluster.reader(Topic.SETTINGS, "n4")) {
            await().atMost(SOON).until(() -> reader.latest().contains("\"devicePluginConfig\":\"small\""));

            // Retries if the service updated the Node in between.
            await().atMost(SOON).ignoreExceptions().until(() -> {
                cluster.kubernetes()
                        .nodes()
                        .withName("n4")
                        .edit(node -> new NodeBuilder(node)
                                .editMetadata()
                                .removeFromLabels("nvidia.com/device-plugin.config")
                                .endMetadata()
                                .build());
                return true;
            });
            await().atMost(SOON).until(() -> reader.latest().equals("tombstone"));
        }
    }

    @Test
    void recordThatCannotBeReadIsDeadLetteredAndTheNextOneIsShown() {
        try (var letters = cluster.reader(Topic.DEADLETTER, "n6");
                var daemon = cluster.daemon("n6")) {
            // When
            cluster.announceAt("n6", "+12345-01-01T00:00:00Z");
            daemon.announce(TestGpus.a100(2));
            // Then
            await().atMost(SOON).until(() -> letters.latest().contains("boot-n6"));
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(
                                    TestCluster.get(active, "/v1/nodes/n6").path("devices"))
                            .hasSize(2));
            assertThat(active.role().get()).isEqualTo("ACTIVE");
        }
    }

    @Test
    void grpcAnswersOnEveryReplica() throws Exception {
        cluster.createNode("n5", Map.of());
        Vertx vertx = Vertx.vertx();
        try (var daemon = cluster.daemon("n5")) {
            daemon.announce(new TestGpus(2, "Tesla V100-SXM2-16GB", "V100"));
            var grpc = GrpcClient.client(vertx);
            for (var replica : List.of(active, standby)) {
                var inventory = InventoryServiceGrpcClient.create(
                        grpc, SocketAddress.inetSocketAddress(replica.grpc(), "127.0.0.1"));
                var list = ListNodesRequest.newBuilder().setShortModel("V100").build();
                await().atMost(SOON)
                        .untilAsserted(() -> assertThat(inventory
                                        .listNodes(list)
                                        .toCompletionStage()
                                        .toCompletableFuture()
                                        .get()
                                        .getNodesList())
                                .extracting(node -> node.getNode())
                                .containsExactly("n5"));
                assertThat(inventory
                                .getNode(GetNodeRequest.newBuilder()
                                        .setNode("n5")
                                        .build())
                                .toCompletionStage()
                                .toCompletableFuture()
                                .get()
                                .getNode()
                                .getAnnounced()
                                .getGpusCount())
                        .isEqualTo(2);
                assertThat(inventory
                                .getNode(GetNodeRequest.newBuilder()
                                        .setNode("none")
                                        .build())
                                .toCompletionStage()
                                .toCompletableFuture())
                        .failsWithin(SOON)
                        .withThrowableThat()
                        .withMessageContaining("NOT_FOUND");
            }
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get();
        }
    }
}
