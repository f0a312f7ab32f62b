package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.monitoring.MonitoringManifests;
import io.gpufleet.testbed.testkit.contract.PublishedRecords;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The subcommands on a fleet of real processes: broker, API server, three services, two nodes. */
class LocalFleetIT {
    @TempDir
    static Path directory;

    private static KubernetesCluster cluster;

    @BeforeAll
    static void up() {
        // The programs are packaged earlier in the same build.
        System.setProperty(
                "gpufleet.home", Path.of("../..").toAbsolutePath().normalize().toString());
        String words = run("up", "--detach", "--kubeconfig=", "--nodes", "2", "--gpus", "4");
        assertThat(words).contains("node-2", "health-service-0", "Try:");
        cluster = KubernetesCluster.of(Path.of(run("kubeconfig").strip()));
    }

    @AfterAll
    static void down() {
        Optional.ofNullable(cluster).ifPresent(KubernetesCluster::close);
        FleetState state = FleetState.read(state().resolve("state.json")).orElseThrow();
        var published = PublishedRecords.of(state.bootstrap()).check();
        assertThat(run("down", "--clean")).contains("ended 8 processes");
        assertThat(published).containsKeys("telemetry.sampled.v1", "verdict.reached.v1", "node.viewed.v1");
        assertThat(state.alive()).isFalse();
        assertThat(state()).doesNotExist();
    }

    @Test
    void secondUpReportsTheRunningFleet() {
        assertThat(run("up", "--detach", "--kubeconfig="))
                .contains("already runs")
                .contains("node-1")
                .doesNotContain("Not applied");
        assertThat(run("up", "--detach", "--kubeconfig=", "--nodes", "5", "--model", "B200"))
                .contains("already runs")
                .contains("Not applied, since a running fleet keeps its options: --nodes 5, --model B200;");
    }

    @Test
    void secondUpStartsDeadPartsAgain() {
        // Given
        FleetState state = FleetState.read(state().resolve("state.json")).orElseThrow();
        ProcessHandle service = state.process("inventory-service-0")
                .flatMap(part -> part.identity().find())
                .orElseThrow();
        service.destroyForcibly();
        service.onExit().join();

        // When
        String said = run("up", "--detach", "--kubeconfig=");

        // Then
        assertThat(said).contains("were dead and are started again: inventory-service-0");
        assertThat(run("up", "--detach", "--kubeconfig=")).contains("The fleet already runs:");
    }

    @Test
    void onePartIsStoppedAndStarted() {
        assertThat(run("stop", "inventory-service-0")).contains("inventory-service-0 stopped");
        assertThat(run("status")).containsPattern("inventory-service-0 +ended +-");
        assertThat(run("start", "inventory-service-0")).contains("inventory-service-0 started");
        // Not at once: it is a standby first, and not ready while it takes over.
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(run("status")).containsPattern("inventory-service-0 +ready +[0-9]+"));
        assertThat(run("restart", "inventory-service-0")).contains("inventory-service-0 restarted");
    }

    @Test
    void jsonStatusHasAllAddresses() throws IOException {
        JsonNode status = new ObjectMapper().readTree(run("status", "--json"));
        assertThat(status.at("/kafka/bootstrap").asText()).startsWith("127.0.0.1:");
        assertThat(status.at("/services").size()).isEqualTo(3);
        assertThat(status.at("/nodes").size()).isEqualTo(2);
        status.at("/processes")
                .forEach(process -> assertThat(process.at("/running").asBoolean())
                        .as(process.at("/name").asText())
                        .isTrue());
    }

    @Test
    void faultTaintsNodeAndClearRemovesTheTaint() {
        // Given
        awaitAllocatable("node-1", "4");
        // When
        run("fault", "node-1", "3", "79");
        // Then
        patiently().until(() -> tainted("node-1"));
        awaitAllocatable("node-1", "3");
        // When
        run("clear", "node-1", "3");
        // Then
        patiently().until(() -> !tainted("node-1"));
        awaitAllocatable("node-1", "4");
    }

    @Test
    void everyMetricOfTheAlertsAndTheDashboardIsExported() throws Exception {
        // Given a quota, without which some have no value
        cluster.client()
                .load(getClass().getResourceAsStream("/gpufleet-it-quota.yaml"))
                .createOrReplace();
        // Then
        FleetState state = FleetState.read(state().resolve("state.json")).orElseThrow();
        patiently().untilAsserted(() -> {
            String exported = exported(state);
            assertThat(MonitoringManifests.metrics())
                    .isNotEmpty()
                    .allSatisfy(
                            metric -> assertThat(exported).containsAnyOf("\n" + metric, "\n# TYPE " + metric + " "));
        });
        cluster.client()
                .load(getClass().getResourceAsStream("/gpufleet-it-quota.yaml"))
                .delete();
    }

    private static String exported(FleetState state) throws IOException, InterruptedException {
        var exported = new StringBuilder();
        try (HttpClient http = HttpClient.newHttpClient()) {
            for (String name : List.of("inventory-service-0", "health-service-0", "allocation-service-0", "node-1")) {
                int port = state.process(name).orElseThrow().ports().getOrDefault("http", 0);
                var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"));
                exported.append(
                        http.send(request.build(), BodyHandlers.ofString()).body());
            }
        }
        return exported.toString();
    }

    @Test
    void podIsAllocatedItsGpusAndRuns() {
        // Given
        awaitAllocatable("node-2", "4");
        patiently()
                .until(() -> cluster.client()
                        .nodes()
                        .withName("node-2")
                        .get()
                        .getMetadata()
                        .getLabels()
                        .containsKey("nvidia.com/gpu.product"));
        // When
        run("pod", "create", "team-a/train", "--gpus", "2", "--model", "H100", "--run-for", "1s");
        // Then
        patiently()
                .until(() -> Optional.ofNullable(cluster.client()
                                .pods()
                                .inNamespace("team-a")
                                .withName("train")
                                .get())
                        .map(Pod::getStatus)
                        .filter(status -> "Succeeded".equals(status.getPhase()))
                        .isPresent());
        assertThat(run("pod", "delete", "team-a/train")).contains("deleted");
    }

    @Test
    void eventsAreCutToALineUnlessTheyAreWantedInFullOrAsJson() throws IOException {
        // Given the GPUs of a node, which fill more than a line
        awaitAllocatable("node-1", "4");
        // Then
        assertThat(event()).hasSizeBetween(100, 402).endsWith(" …");
        assertThat(event("--full")).hasSizeGreaterThan(402).doesNotContain("…");
        JsonNode event = new ObjectMapper().readTree(event("--json"));
        assertThat(event.path("topic").asText()).isEqualTo("gpu.inventory");
        assertThat(event.path("offset").isIntegralNumber()).isTrue();
        assertThat(event.path("type").asText()).isEqualTo("io.gpufleet.node.announced.v1");
    }

    private static String event(String... options) throws IOException {
        var arguments = new ArrayList<>(List.of("events", "inventory", "--since", "100000"));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("--state", state().toString()));
        return CommandProcess.lineOf(arguments, "node.announced", Duration.ofSeconds(60));
    }

    @Test
    void drillsAreListedForEveryPartOfTheFleet() {
        assertThat(run("drill", "--list").lines())
                .contains("kill-inventory-service-0", "kill-health-service-0", "kill-allocation-service-0")
                .contains("kill-node-1", "broker-kill", "broker-restart", "broker-away", "broker-away-at-start")
                .contains("api-server-away", "broker-disk-full", "disk-full-node-1", "clock-jump-health-service-0")
                .contains("slow-inventory-service-0", "slow-health-service-0", "slow-allocation-service-0")
                .contains("certificate-expired", "secret-deleted", "no-leader-health", "no-leader-verdicts", "reviews");
    }

    @Test
    void drillKillsAServiceAndFindsThatEverythingHolds() {
        String said = run("drill", "kill-health-service-0");

        assertThat(said)
                .contains("health-service-0 is killed by SIGKILL")
                .containsPattern("kill-health-service-0 +a fault during the drill taints the node +yes +[0-9]")
                .containsPattern("kill-health-service-0 +a new pod gets a GPU +yes +[0-9]")
                .doesNotContain(" NO");
    }

    @Test
    void drillsOfTheWebhookAndOfAFullDiskFindThatEverythingHolds() {
        assertThat(run("drill", "--for", "3", "certificate-expired", "disk-full-node-1"))
                .containsPattern("certificate-expired +the webhook answers, its Secret is valid +yes +[0-9]")
                .containsPattern("disk-full-node-1 +a fault during the drill taints the node +yes +[0-9]")
                .doesNotContain(" NO");
    }

    @Test
    void drillsOfClocksAndOfALeaderlessPartitionFindThatEverythingHolds() {
        assertThat(run("drill", "--for", "3", "no-leader-health", "clock-jump-node-1", "clock-jump-health-service-0"))
                .containsPattern("no-leader-health +a fault during the drill taints the node +yes +[0-9]")
                .containsPattern("clock-jump-node-1 +its clock was 60 min ahead +yes +[0-9]")
                .containsPattern("clock-jump-health-service-0 +its clock was 60 min ahead +yes +[0-9]")
                .containsPattern("clock-jump-health-service-0 +a fault during the drill taints the node +yes +[0-9]")
                .doesNotContain(" NO");
    }

    @Test
    void logsAreShownByName() {
        FleetState state = FleetState.read(state().resolve("state.json")).orElseThrow();
        assertThat(state.process("health-service-0")
                        .map(FleetState.FleetProcess::log)
                        .map(Path::of))
                .hasValueSatisfying(log -> assertThat(log).isNotEmptyFile());
    }

    private static boolean tainted(String node) {
        return cluster.client().nodes().withName(node).get().getSpec().getTaints().stream()
                .anyMatch(taint -> taint.getKey().equals("gpufleet.io/unhealthy"));
    }

    private static void awaitAllocatable(String node, String count) {
        patiently()
                .until(() -> Optional.ofNullable(
                                cluster.client().nodes().withName(node).get())
                        .map(Node::getStatus)
                        .map(status -> status.getAllocatable().get("nvidia.com/gpu"))
                        .filter(quantity -> quantity.toString().equals(count))
                        .isPresent());
    }

    private static Path state() {
        return directory.resolve("state");
    }

    private static String run(String... words) {
        var arguments = new ArrayList<>(List.of(words));
        arguments.add("--state");
        arguments.add(state().toString());
        var bytes = new ByteArrayOutputStream();
        PrintStream before = System.out;
        try (var out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            System.setOut(out);
            int code = GpufleetCommand.commandLine().execute(arguments.toArray(String[]::new));
            assertThat(code).as(String.join(" ", words)).isZero();
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static org.awaitility.core.ConditionFactory patiently() {
        return await().atMost(Duration.ofSeconds(60));
    }
}
