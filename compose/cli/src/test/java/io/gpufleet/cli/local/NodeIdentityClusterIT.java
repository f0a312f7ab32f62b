package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** Node objects that go and come back, and machines that change behind them, on a real API server. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class NodeIdentityClusterIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String NODE = "gpufleet-it-machine";
    private static final String RENAMED = "gpufleet-it-renamed";
    /** Two A100, whose UUIDs do not depend on the name of the node; a fault comes and goes. */
    private static final String RECORDED =
            "recording:" + Repository.module("node-daemon/src/test/recordings/simulated-2xA100-mig.jsonl.gz") + ":loop";

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static BrokerProcess broker;
    private static ProgramProcess inventory;
    private static ProgramProcess health;
    private static SimulatedMachine machine;

    @BeforeAll
    static void start() throws Exception {
        cluster = RealCluster.open();
        broker = BrokerProcess.start(directory.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        inventory = service("inventory-service", "io.gpufleet.inventory.InventoryMain", Map.of());
        health = service(
                "health-service",
                "io.gpufleet.health.HealthMain",
                Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"));
        machine = SimulatedMachine.start(directory.resolve("first"), NODE, "simulated:2xH100", broker.bootstrap());
    }

    private static ProgramProcess service(String module, String main, Map<String, String> more) {
        var environment = new TreeMap<>(Map.of(
                "GPUFLEET_CLUSTER", "it",
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_HTTP_HOST", "127.0.0.1",
                "GPUFLEET_GRPC_PORT", "0",
                "KUBECONFIG", RealCluster.kubeconfig().toString()));
        environment.putAll(more);
        return ProgramProcess.of(module, main, directory)
                .environment(environment)
                .freePort("GPUFLEET_HTTP_PORT")
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        for (AutoCloseable program : new AutoCloseable[] {machine, health, inventory, broker}) {
            if (program != null) {
                program.close();
            }
        }
        List.of(NODE, RENAMED)
                .forEach(node -> cluster.client().nodes().withName(node).delete());
        cluster.close();
    }

    private static Optional<Node> node(String name) {
        return Optional.ofNullable(cluster.client().nodes().withName(name).get());
    }

    private static String label(String node, String key) {
        return node(node)
                .map(found -> found.getMetadata().getLabels().getOrDefault(key, ""))
                .orElse("");
    }

    private static boolean tainted(String node) {
        return node(node).stream()
                .flatMap(found -> found.getSpec().getTaints().stream())
                .anyMatch(taint -> taint.getKey().equals("gpufleet.io/unhealthy"));
    }

    @Test
    @Order(1)
    void nodeObjectThatComesBackHasItsLabelsAndItsTaintAgain() throws Exception {
        // Given
        new SimulatedFaults(directory.resolve("first/faults")).inject(1, 79);
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(label(NODE, "nvidia.com/gpu.count")).isEqualTo("2");
            assertThat(tainted(NODE)).isTrue();
        });
        String before = node(NODE).orElseThrow().getMetadata().getUid();

        // When
        cluster.client().nodes().withName(NODE).delete();

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(node(NODE).map(found -> found.getMetadata().getUid()))
                    .isPresent()
                    .get()
                    .isNotEqualTo(before);
            assertThat(label(NODE, "nvidia.com/gpu.count")).isEqualTo("2");
            assertThat(tainted(NODE)).isTrue();
        });
    }

    @Test
    @Order(2)
    void machineThatReplacesAnotherHasNothingOfItsFaults() throws Exception {
        // When
        machine.close();
        cluster.client().nodes().withName(NODE).delete();
        machine = SimulatedMachine.start(directory.resolve("second"), NODE, RECORDED, broker.bootstrap());

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(label(NODE, "nvidia.com/gpu.count")).isEqualTo("2");
            assertThat(label(NODE, "nvidia.com/gpu.product")).contains("A100");
            assertThat(tainted(NODE)).isFalse();
        });
        assertThat(inventory.get("/v1/nodes/" + NODE).body()).contains("A100").doesNotContain("H100");
    }

    @Test
    @Order(3)
    void renamedMachineTakesItsGpusAlong() throws Exception {
        // When
        machine.close();
        cluster.client().nodes().withName(NODE).delete();
        machine = SimulatedMachine.start(directory.resolve("second"), RENAMED, RECORDED, broker.bootstrap());

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(label(RENAMED, "nvidia.com/gpu.count")).isEqualTo("2");
            assertThat(tainted(RENAMED)).isFalse();
            assertThat(inventory.get("/v1/nodes/" + NODE).status()).isEqualTo(404);
            assertThat(inventory.get("/v1/devices").body()).contains(RENAMED).doesNotContain(NODE);
        });
    }
}
