package io.gpufleet.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.proto.inventory.v1.GetNodeRequest;
import io.gpufleet.proto.inventory.v1.InventoryServiceGrpcClient;
import io.gpufleet.proto.inventory.v1.ListNodesRequest;
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

/** The whole service between a real broker and the stand-in Kubernetes API, two replicas of it. */
class InventoryIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private static Path dir;

    private static TestCity city;
    private static final Shutdown FIRST = new Shutdown();
    private static final Shutdown SECOND = new Shutdown();
    private static InventoryMain.Running active;
    private static InventoryMain.Running standby;

    @BeforeAll
    static void open() throws Exception {
        city = new TestCity(dir);
        active = city.replica("inventory-service-0", FIRST);
        await().atMost(SOON).until(() -> active.role().get().equals("ACTIVE"));
        standby = city.replica("inventory-service-1", SECOND);
        await().atMost(SOON).until(() -> standby.role().get().equals("STANDBY"));
    }

    @AfterAll
    static void close() {
        SECOND.close();
        FIRST.close();
        city.close();
    }

    @Test
    void announcedNodeIsLabelledAndEveryReplicaShowsIt() throws Exception {
        city.createNode("n1", Map.of());
        try (var daemon = new TestDaemon(city.kafka(), TestCity.CLUSTER, "n1")) {
            daemon.announce("NVIDIA A100-SXM4-40GB", "A100", "12.4", 8);

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(city.labels("n1"))
                            .containsEntry("nvidia.com/gpu.count", "8")
                            .containsEntry("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB")
                            .containsEntry("nvidia.com/cuda.runtime-version.full", "12.4")
                            .containsEntry("accelerator", "nvidia-tesla-a100"));
            for (var replica : List.of(active, standby)) {
                await().atMost(SOON)
                        .untilAsserted(() -> assertThat(
                                        TestCity.get(replica, "/v1/nodes/n1").path("devices"))
                                .hasSize(8));
                assertThat(TestCity.get(replica, "/v1/devices?node=n1&limit=3").get("items"))
                        .hasSize(3);
                assertThat(TestCity.get(replica, "/readyz").get("ok").asBoolean())
                        .isTrue();
            }

            // What is claimed no longer goes away: this driver names no CUDA version.
            daemon.announce("NVIDIA H100 80GB HBM3", "H100", "", 4);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(city.labels("n1"))
                            .containsEntry("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
                            .containsEntry("nvidia.com/gpu.count", "4")
                            .doesNotContainKey("nvidia.com/cuda.runtime-version.full"));

            daemon.depart();
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(TestCity.get(standby, "/v1/nodes/n1")
                                    .path("presence")
                                    .asText())
                            .isEqualTo("departed"));
            assertThat(city.labels("n1")).containsEntry("gpu-type", "h100");
        }
    }

    @Test
    void labelOfSomebodyElseIsLeftAndReported() throws Exception {
        city.createNode("n2", Map.of("accelerator", "mine"));
        try (var daemon = new TestDaemon(city.kafka(), TestCity.CLUSTER, "n2")) {
            daemon.announce("NVIDIA A100-SXM4-40GB", "A100", "12.4", 1);

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(TestCity.get(active, "/v1/nodes/n2")
                                    .at("/labelConflicts/0")
                                    .asText())
                            .isEqualTo("accelerator"));
            assertThat(city.labels("n2")).containsEntry("accelerator", "mine").containsEntry("gpu-type", "a100");
        }
    }

    @Test
    void nodeOfAnotherBootIsNotLabelledUntilItsDaemonSpeaks() {
        city.createNode("n3", Map.of());
        try (var daemon = new TestDaemon(city.kafka(), TestCity.CLUSTER, "n3")) {
            daemon.announce("boot-of-before", "NVIDIA A100-SXM4-40GB", "A100", "12.4", 1);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(TestCity.get(active, "/v1/nodes/n3")
                                    .path("uid")
                                    .asText())
                            .isNotEmpty());
            assertThat(city.labels("n3")).isNullOrEmpty();

            daemon.announce("NVIDIA A100-SXM4-40GB", "A100", "12.4", 1);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(city.labels("n3")).containsEntry("gpu-type", "a100"));
        }
    }

    @Test
    void settingsLabelsReachTheDaemonsTopic() {
        city.createNode("n4", Map.of("nvidia.com/device-plugin.config", "small"));
        try (var reader = new TestReader(city.kafka(), Topic.SETTINGS, "n4")) {
            await().atMost(SOON).until(() -> reader.newest().contains("\"devicePluginConfig\":\"small\""));

            // Again, where the service was faster with labels of its own.
            await().atMost(SOON).ignoreExceptions().until(() -> {
                city.kubernetes()
                        .nodes()
                        .withName("n4")
                        .edit(node -> new NodeBuilder(node)
                                .editMetadata()
                                .removeFromLabels("nvidia.com/device-plugin.config")
                                .endMetadata()
                                .build());
                return true;
            });
            await().atMost(SOON).until(() -> reader.newest().equals("tombstone"));
        }
    }

    @Test
    void grpcAnswersOnEveryReplica() throws Exception {
        city.createNode("n5", Map.of());
        Vertx vertx = Vertx.vertx();
        try (var daemon = new TestDaemon(city.kafka(), TestCity.CLUSTER, "n5")) {
            daemon.announce("Tesla V100-SXM2-16GB", "V100", "12.4", 2);
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
