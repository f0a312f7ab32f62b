package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
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

/** A real node under gpufleet: broker, three services, one daemon with simulated GPUs on the real kubelet's sockets. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FleetClusterIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String NAMESPACE = "gpufleet-it-team";
    private static final String PRINT_DEVICES = "echo devices=$NVIDIA_VISIBLE_DEVICES";

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static BrokerProcess broker;
    private static ProgramProcess daemon;
    private static List<ProgramProcess> services;
    private static SimulatedFaults faults;

    @BeforeAll
    static void start() throws Exception {
        cluster = RealCluster.open();
        applyQuotaDefinition();
        broker = BrokerProcess.start(directory.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        faults = new SimulatedFaults(directory.resolve("faults"));
        // Free ports: another fleet on this machine may have the usual ones.
        int webhookPort = FreePort.next();
        services = List.of(
                service("inventory-service", "io.gpufleet.inventory.InventoryMain", Map.of()),
                service(
                        "health-service",
                        "io.gpufleet.health.HealthMain",
                        Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited")),
                service(
                        "allocation-service",
                        "io.gpufleet.allocation.AllocationMain",
                        Map.of(
                                "GPUFLEET_WEBHOOK_HOST",
                                "127.0.0.1",
                                "GPUFLEET_WEBHOOK_PORT",
                                Integer.toString(webhookPort),
                                "GPUFLEET_WEBHOOK_URL",
                                "https://127.0.0.1:" + webhookPort,
                                "GPUFLEET_NAMESPACE",
                                "default")));
        daemon = ProgramProcess.of("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", directory)
                .environment(daemonSettings())
                .start();
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
    void realKubeletReportsWhatTheDaemonRegistered() {
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(cluster.capacityGpus()).isEqualTo(8);
            assertThat(cluster.allocatableGpus()).isEqualTo(8);
        });
    }

    @Test
    @Order(2)
    void podWithOneGpuRunsToCompletionAndPrintsIt() {
        // Given
        var pods = cluster.client().pods().inNamespace("default");

        // When
        pods.resource(RealCluster.pod("default", "gpufleet-it-one", 1, PRINT_DEVICES))
                .create();

        // Then
        await().atMost(TIMEOUT)
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
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(cluster.label("nvidia.com/gpu.count")).isEqualTo("8");
            assertThat(cluster.label("nvidia.com/gpu.product")).contains("H100");
        });
    }

    @Test
    @Order(4)
    void withdrawnDeviceLowersAllocatableAndTaintsNodeUntilItRecovers() throws Exception {
        // When
        faults.inject(3, 79);

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(cluster.allocatableGpus()).isEqualTo(7);
            assertThat(tainted()).isTrue();
        });

        // When
        faults.clear(3);

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(cluster.allocatableGpus()).isEqualTo(8);
            assertThat(tainted()).isFalse();
        });
    }

    @Test
    @Order(5)
    void restartedDaemonKeepsTheResource() throws Exception {
        // When
        daemon.restart();

        // Then
        await().atMost(TIMEOUT)
                .during(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
        assertThat(cluster.capacityGpus()).isEqualTo(8);
    }

    @Test
    @Order(6)
    void restartedKubeletReceivesTheListAgain() throws Exception {
        // When
        cluster.stopKubelet();
        cluster.startKubelet();

        // Then
        await().atMost(TIMEOUT)
                .during(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(8));
    }

    @Test
    @Order(7)
    void podOverQuotaIsRefusedOverTls() {
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
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(cluster.client()
                                .namespaces()
                                .withName(NAMESPACE)
                                .get()
                                .getMetadata()
                                .getLabels())
                        .containsEntry("gpufleet.io/quota", "enforce"));
        var pods = cluster.client().pods().inNamespace(NAMESPACE);

        // When / Then
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThatThrownBy(
                                () -> pods.resource(RealCluster.pod(NAMESPACE, "too-big", 3, PRINT_DEVICES))
                                        .dryRun()
                                        .create())
                        .isInstanceOf(KubernetesClientException.class)
                        .hasMessageContaining("gpufleet-it")
                        .hasMessageContaining("2"));
        pods.resource(RealCluster.pod(NAMESPACE, "fits", 2, PRINT_DEVICES)).create();
        assertThat(pods.withName("fits").get()).isNotNull();
    }

    private static ProgramProcess service(String module, String main, Map<String, String> more) {
        var environment = new TreeMap<>(Map.of(
                "GPUFLEET_CLUSTER", "it",
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_HTTP_HOST", "127.0.0.1",
                "GPUFLEET_GRPC_PORT", Integer.toString(FreePort.next()),
                "KUBECONFIG", RealCluster.kubeconfig().toString()));
        environment.putAll(more);
        return ProgramProcess.of(module, main, directory)
                .environment(environment)
                .start();
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
                faults.directory().toString(),
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

    private static boolean tainted() {
        return cluster.taints().stream().anyMatch(taint -> taint.getKey().equals("gpufleet.io/unhealthy"));
    }

    private static void applyQuotaDefinition() throws Exception {
        try (var files = Files.list(Repository.module("k8s/base/crds"))) {
            for (Path file :
                    files.filter(it -> !it.endsWith("kustomization.yaml")).toList()) {
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
