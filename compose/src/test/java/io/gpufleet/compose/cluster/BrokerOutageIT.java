package io.gpufleet.compose.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.compose.kubeapi.KubeApi;
import io.gpufleet.compose.kubelet.Allocation;
import io.gpufleet.compose.kubelet.ResourceView;
import io.gpufleet.compose.kubelet.StandInKubelet;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bus is away for longer than an edge may act. Ten minutes of design are three seconds here (max-action-age), so that
 * an outage of a few seconds stands for one of a quarter of an hour. What is not shortened is the minute after which open
 * faults are told again: a health-service that comes back later than three seconds after the daemon acts on that.
 */
class BrokerOutageIT {
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Duration MAX_ACTION_AGE = Duration.ofSeconds(3);
    private static final String GPU = "nvidia.com/gpu";

    @TempDir
    private Path directory;

    private final Vertx vertx = Vertx.vertx();
    private KubeApi api;
    private KubernetesClient client;
    private BrokerProcess broker;
    private StandInKubelet kubelet;
    private ProgramProcess health;
    private ProgramProcess daemon;
    private Path faults;

    @BeforeEach
    void start() throws Exception {
        api = KubeApi.start("127.0.0.1", 0);
        Path kubeconfig = api.kubeconfig(directory.resolve("kubeconfig"));
        client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(kubeconfig.toFile()))
                .build();
        String bootId =
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        var node = new NodeBuilder()
                .withNewMetadata()
                .withName("node-1")
                .endMetadata()
                .withNewStatus()
                .withNewNodeInfo()
                .withBootID(bootId)
                .endNodeInfo()
                .endStatus()
                .build();
        client.resource(node).create();
        client.resource(node).patchStatus();
        broker = BrokerProcess.start(directory.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        kubelet = StandInKubelet.start(vertx, directory.resolve("kubelet"));
        faults = Files.createDirectories(directory.resolve("faults"));
        health = ProgramProcess.start(
                "health-service",
                "io.gpufleet.health.HealthMain",
                Map.of(
                        "GPUFLEET_CLUSTER",
                        "it",
                        "GPUFLEET_KAFKA",
                        broker.bootstrap(),
                        "GPUFLEET_HTTP_HOST",
                        "127.0.0.1",
                        "GPUFLEET_HTTP_PORT",
                        "0",
                        "GPUFLEET_MAX_ACTION_AGE",
                        MAX_ACTION_AGE.toString(),
                        "KUBECONFIG",
                        kubeconfig.toString()),
                directory);
        daemon = ProgramProcess.start(
                "node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", daemonSettings(), directory);
        await().atMost(PATIENCE).until(() -> healthy() == 2);
    }

    @AfterEach
    void stop() throws Exception {
        daemon.close();
        health.close();
        kubelet.close();
        broker.close();
        client.close();
        api.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }

    @Test
    void aFaultOfTheOutageTaintsTheNodeOnceTheBrokerIsBack() throws Exception {
        // Given
        broker.kill();

        // When
        fault(0, 79);
        Instant staleFrom = Instant.now().plus(MAX_ACTION_AGE);

        // Then
        await().atMost(PATIENCE).until(() -> healthy() == 1);
        Allocation given = kubelet.allocate("team-a", "meanwhile", "main", GPU, 1);
        assertThat(given.deviceIds()).hasSize(1);

        // When
        await().until(() -> Instant.now().isAfter(staleFrom));
        broker.restart();

        // Then
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(client.nodes()
                                .withName("node-1")
                                .get()
                                .getSpec()
                                .getTaints())
                        .extracting(taint -> taint.getKey() + "=" + taint.getValue())
                        .containsExactly("gpufleet.io/unhealthy=Xid79"));
    }

    private long healthy() {
        return kubelet.resource(GPU).map(ResourceView::allocatable).orElse(0);
    }

    private void fault(int gpu, int xid) throws Exception {
        Path written = Files.writeString(directory.resolve("fault"), xid + "\n");
        Files.move(written, faults.resolve(gpu + ".xid"), StandardCopyOption.ATOMIC_MOVE);
    }

    private Map<String, String> daemonSettings() {
        return Map.of(
                "GPUFLEET_CLUSTER", "it",
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_NODE", "node-1",
                "GPUFLEET_DEVICES", "simulated:2xH100",
                "GPUFLEET_SIMULATION_DIR", faults.toString(),
                "GPUFLEET_DEVICE_PLUGIN_DIR", kubelet.devicePluginDirectory().toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET", kubelet.podResourcesSocket().toString(),
                "GPUFLEET_STATE_DIR", directory.resolve("state").toString(),
                "GPUFLEET_RUN_DIR", directory.resolve("run").toString(),
                "GPUFLEET_HTTP_PORT", "0");
    }
}
