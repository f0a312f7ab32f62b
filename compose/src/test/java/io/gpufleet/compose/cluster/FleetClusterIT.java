package io.gpufleet.compose.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** One real node under gpufleet: broker, three services, one daemon with simulated GPUs on the real kubelet's sockets. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FleetClusterIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String NAMESPACE = "gpufleet-it-team";

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static BrokerProcess broker;
    private static ProgramProcess daemon;
    private static List<ProgramProcess> services;
    private static Path faults;

    @BeforeAll
    static void start() throws Exception {
        cluster = RealCluster.open();
        applyQuotaDefinition();
        broker = BrokerProcess.start(directory.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        faults = Files.createDirectories(directory.resolve("faults"));
        services = List.of(
                service("inventory-service", "io.gpufleet.inventory.InventoryMain", 18080, Map.of()),
                service("health-service", "io.gpufleet.health.HealthMain", 18180, Map.of()),
                service(
                        "allocation-service",
                        "io.gpufleet.allocation.AllocationMain",
                        18280,
                        Map.of(
                                "GPUFLEET_WEBHOOK_HOST", "127.0.0.1",
                                "GPUFLEET_WEBHOOK_PORT", "18443",
                                "GPUFLEET_WEBHOOK_URL", "https://127.0.0.1:18443",
                                "GPUFLEET_NAMESPACE", "default")));
        daemon = ProgramProcess.start(
                "node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", daemonSettings(), directory);
    }

    @AfterAll
    static void stop() throws Exception {
        if (daemon != null) {
            daemon.close();
        }
        for (ProgramProcess service : services == null ? List.<ProgramProcess>of() : services) {
            service.close();
        }
        if (broker != null) {
            broker.close();
        }
        cluster.client().namespaces().withName(NAMESPACE).delete();
        quotas().withName("gpufleet-it").delete();
        cluster.client()
                .admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .delete();
        cluster.close();
    }

    @Test
    @Order(1)
    void theRealKubeletOffersWhatTheDaemonRegistered() {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(cluster.capacity()).isEqualTo(8);
            assertThat(cluster.allocatable()).isEqualTo(8);
        });
    }

    @Test
    @Order(2)
    void aPodThatAsksForOneGpuRunsToCompletionAndPrintsIt() {
        // Given
        var pods = cluster.client().pods().inNamespace("default");

        // When
        pods.resource(cluster.podThatPrintsItsDevices("default", "gpufleet-it-one", 1))
                .create();

        // Then
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(pods.withName("gpufleet-it-one")
                                .get()
                                .getStatus()
                                .getPhase())
                        .isEqualTo("Succeeded"));
        assertThat(pods.withName("gpufleet-it-one").getLog()).matches("devices=GPU-[0-9a-f-]{36}\\s*");
        pods.withName("gpufleet-it-one").delete();
    }

    @Test
    @Order(3)
    void labelsOfTheHardwareLandOnTheRealNode() {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(cluster.label("nvidia.com/gpu.count")).isEqualTo("8");
            assertThat(cluster.label("nvidia.com/gpu.product")).contains("H100");
        });
    }

    @Test
    @Order(4)
    void aWithdrawnDeviceLowersAllocatableAndTaintsTheNodeUntilItRecovers() throws Exception {
        // When
        fault(3, 79);

        // Then
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(cluster.allocatable()).isEqualTo(7);
            assertThat(cluster.tainted()).isTrue();
        });

        // When
        Files.delete(faults.resolve("3.xid"));

        // Then
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(cluster.allocatable()).isEqualTo(8);
            assertThat(cluster.tainted()).isFalse();
        });
    }

    @Test
    @Order(5)
    void aDaemonKilledAndStartedAgainDoesNotLoseTheResource() throws Exception {
        // When
        daemon.killAndRestart();

        // Then
        await().atMost(PATIENCE)
                .during(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(cluster.allocatable()).isEqualTo(8));
        assertThat(cluster.capacity()).isEqualTo(8);
    }

    @Test
    @Order(6)
    void aKubeletRestartedGetsTheListAgain() throws Exception {
        // When
        cluster.tool("stop", "kubelet");
        cluster.tool("up");

        // Then
        await().atMost(PATIENCE)
                .during(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(cluster.allocatable()).isEqualTo(8));
    }

    @Test
    @Order(7)
    void aPodOverItsQuotaIsRefusedOverTls() {
        // Given
        cluster.client()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(NAMESPACE)
                        .endMetadata()
                        .build())
                .create();
        cluster.client()
                .load(getClass().getResourceAsStream("/gpufleet-it-quota.yaml"))
                .createOrReplace();
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(cluster.client()
                                .namespaces()
                                .withName(NAMESPACE)
                                .get()
                                .getMetadata()
                                .getLabels())
                        .containsEntry("gpufleet.io/quota", "enforce"));
        var pods = cluster.client().pods().inNamespace(NAMESPACE);

        // When / Then
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThatThrownBy(
                                () -> pods.resource(cluster.podThatPrintsItsDevices(NAMESPACE, "too-big", 3))
                                        .dryRun()
                                        .create())
                        .isInstanceOf(KubernetesClientException.class)
                        .hasMessageContaining("gpufleet-it")
                        .hasMessageContaining("2"));
        pods.resource(cluster.podThatPrintsItsDevices(NAMESPACE, "fits", 2)).create();
        assertThat(pods.withName("fits").get()).isNotNull();
    }

    private static ProgramProcess service(String module, String main, int port, Map<String, String> more)
            throws Exception {
        var environment = new TreeMap<>(Map.of(
                "GPUFLEET_CLUSTER", "it",
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_HTTP_HOST", "127.0.0.1",
                "GPUFLEET_HTTP_PORT", Integer.toString(port),
                "GPUFLEET_GRPC_PORT", Integer.toString(port + 1),
                "KUBECONFIG", cluster.kubeconfig()));
        environment.putAll(more);
        return ProgramProcess.start(module, main, environment, directory);
    }

    private static Map<String, String> daemonSettings() {
        return Map.of(
                "GPUFLEET_CLUSTER",
                "it",
                "GPUFLEET_KAFKA",
                broker.bootstrap(),
                "GPUFLEET_NODE",
                cluster.nodeName(),
                "GPUFLEET_DEVICES",
                "simulated:8xH100",
                "GPUFLEET_SIMULATION_DIR",
                faults.toString(),
                "GPUFLEET_STATE_DIR",
                directory.resolve("state").toString(),
                "GPUFLEET_RUN_DIR",
                directory.resolve("run").toString(),
                "GPUFLEET_HTTP_HOST",
                "127.0.0.1",
                "GPUFLEET_HTTP_PORT",
                "19400",
                "GPUFLEET_RECOVERY_DWELL",
                "2s");
    }

    private static void fault(int gpu, int xid) throws Exception {
        Path written = Files.writeString(directory.resolve("fault"), xid + "\n");
        Files.move(written, faults.resolve(gpu + ".xid"), StandardCopyOption.ATOMIC_MOVE);
    }

    private static void applyQuotaDefinition() throws Exception {
        try (var files = Files.list(ProgramProcess.repository().resolve("k8s/base/crds"))) {
            for (Path file : files.toList()) {
                try (var in = Files.newInputStream(file)) {
                    cluster.client().load(in).createOrReplace();
                }
            }
        }
    }

    private static io.fabric8.kubernetes.client.dsl.MixedOperation<GenericKubernetesResource, ?, ?> quotas() {
        return cluster.client()
                .genericKubernetesResources(new ResourceDefinitionContext.Builder()
                        .withGroup("gpufleet.io")
                        .withVersion("v1alpha1")
                        .withKind("GpuQuota")
                        .withPlural("gpuquotas")
                        .withNamespaced(false)
                        .build());
    }
}
