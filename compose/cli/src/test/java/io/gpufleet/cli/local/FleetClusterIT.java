package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.gpufleet.cli.GpufleetCommand;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.install.AppliedFields;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** {@code up} and {@code down} with a real cluster, whose node has a daemon with simulated GPUs on the real kubelet's sockets. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FleetClusterIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String NAMESPACE = "gpufleet-it-team";
    private static final String SIMULATED = "node-1";
    private static final String PRINT_DEVICES = "echo devices=$NVIDIA_VISIBLE_DEVICES";

    @TempDir
    static Path directory;

    private static RealCluster cluster;
    private static FleetState fleet;
    private static ProgramProcess daemon;
    private static SimulatedFaults faults;

    /** As a user would: the fleet's own node is simulated, and the daemon of this test is on the cluster's real one. */
    @BeforeAll
    static void start() throws Exception {
        System.setProperty("gpufleet.home", Repository.root().toString());
        cluster = RealCluster.open();
        String kubeconfig = RealCluster.kubeconfig().toString();
        assertThat(run("up", "--detach", "--kubeconfig", kubeconfig, "--nodes", "1", "--gpus", "1"))
                .contains("Starting Kafka, the processes for https://");
        fleet = FleetState.read(state().resolve("state.json")).orElseThrow();
        // Pods of this test run on the real node.
        cluster.client()
                .nodes()
                .withName(SIMULATED)
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"unschedulable\":true}}");
        faults = new SimulatedFaults(directory.resolve("faults"));
        daemon = ProgramProcess.of("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", directory)
                .environment(daemonSettings())
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        run("down", "--clean");
        if (daemon != null) {
            daemon.close();
        }
        cluster.client().namespaces().withName(NAMESPACE).delete();
        quotas().withName("gpufleet-it").delete();
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

    @Test
    @Order(8)
    void downLeavesNothingInTheClusterAndSaysWhatItRemoved() throws Exception {
        // Given
        faults.inject(5, 79);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(AppliedFields.of(cluster.node()))
                        .containsKeys(
                                "taint gpufleet.io/unhealthy",
                                "label nvidia.com/gpu.count",
                                "annotation gpufleet.io/applied",
                                "condition GpuUnhealthy"));

        // When
        String said = run("down");

        // Then
        assertThat(said)
                .contains("removed webhook configuration gpufleet-quota")
                .contains("node " + cluster.nodeName() + ": removed taint gpufleet.io/unhealthy")
                .contains("namespace " + NAMESPACE + ": removed label gpufleet.io/quota")
                .contains("removed 1 simulated nodes and namespace gpufleet-local")
                .contains("the definition of GpuQuota and the quotas stay");
        assertThat(AppliedFields.of(cluster.node())).isEmpty();
        assertThat(cluster.client().nodes().withName(SIMULATED).get()).isNull();
        assertThat(cluster.client()
                        .admissionRegistration()
                        .v1()
                        .validatingWebhookConfigurations()
                        .withName("gpufleet-quota")
                        .get())
                .isNull();
        assertThat(cluster.client()
                        .namespaces()
                        .withName(NAMESPACE)
                        .get()
                        .getMetadata()
                        .getLabels())
                .doesNotContainKey("gpufleet.io/quota");
        assertThat(quotas().withName("gpufleet-it").get()).isNotNull();
        assertThat(fleet.alive()).isFalse();
    }

    private static Path state() {
        return directory.resolve("fleet");
    }

    /** What a subcommand prints. */
    private static String run(String... words) {
        var arguments = new ArrayList<>(List.of(words));
        arguments.addAll(List.of("--state", state().toString()));
        var bytes = new ByteArrayOutputStream();
        PrintStream before = System.out;
        try (var out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            System.setOut(out);
            int status = GpufleetCommand.commandLine().execute(arguments.toArray(String[]::new));
            assertThat(status).as(String.join(" ", words)).isZero();
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static Map<String, String> daemonSettings() {
        return Map.of(
                "GPUFLEET_CLUSTER",
                FleetPlan.CLUSTER,
                "GPUFLEET_KAFKA",
                fleet.bootstrap(),
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
                Integer.toString(FreePort.next()),
                "GPUFLEET_RECOVERY_DWELL",
                "2s");
    }

    private static boolean tainted() {
        return cluster.taints().stream().anyMatch(taint -> taint.getKey().equals("gpufleet.io/unhealthy"));
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
