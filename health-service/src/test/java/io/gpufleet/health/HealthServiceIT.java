package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.compose.kubeapi.KubeApi;
import io.gpufleet.health.kafka.Daemon;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program, a real broker, a stand-in API server: from a fault on the log to the marks on the Node. */
class HealthServiceIT {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static int tests;

    @TempDir
    private static Path dir;

    private static BrokerProcess broker;
    private static KubeApi kube;
    private static KubernetesClient client;
    private static ServiceProcess service;
    private static Codec codec;

    private String node = "";
    private Daemon daemon;

    @BeforeAll
    static void startTheFleet() throws IOException {
        broker = BrokerProcess.start(dir.resolve("broker"));
        TopicAdmin.apply(broker.bootstrap(), new Topics("gpu."));
        codec = new Codec("c1", new Topics("gpu."));
        kube = KubeApi.start("127.0.0.1", 0);
        client = client(kube.kubeconfig(dir.resolve("kubeconfig")));
        service = service(dir.resolve("kubeconfig"), "health-service-0");
        await().atMost(LONG).until(() -> service.ready() && service.active());
    }

    @AfterAll
    static void endTheFleet() {
        service.close();
        client.close();
        kube.close();
        broker.close();
    }

    @BeforeEach
    void aNodeWithTwoGpus() {
        node = "node-" + tests++;
        client.nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(node)
                        .endMetadata()
                        .build())
                .create();
        daemon = new Daemon(broker.bootstrap(), codec, node).announces(2);
    }

    @org.junit.jupiter.api.AfterEach
    void closeTheDaemon() {
        daemon.close();
    }

    @Test
    void aFaultEndsAsTaintLabelAnnotationsConditionAndEvent() {
        // When
        daemon.sees(0, 79);

        // Then
        await().atMost(LONG).untilAsserted(() -> {
            assertThat(taint(node)).map(Taint::getValue).contains("Xid79");
            assertThat(taint(node)).map(Taint::getEffect).contains("NoSchedule");
            assertThat(read(node).getMetadata().getLabels()).containsEntry("gpufleet.io/health", "quarantined");
            assertThat(read(node).getMetadata().getAnnotations())
                    .containsEntry("gpufleet.io/next-step", "reboot")
                    .containsKey("gpufleet.io/marks");
            assertThat(condition(node)).isEqualTo("True Xid79");
            assertThat(eventReasons(node)).contains("Xid79");
        });
    }

    @Test
    void aProvenRecoveryTakesTheMarksAway() {
        // Given
        daemon.sees(0, 79);
        await().atMost(LONG).untilAsserted(() -> assertThat(condition(node)).isEqualTo("True Xid79"));

        // When
        daemon.clears(0, 79);

        // Then
        await().atMost(LONG).untilAsserted(() -> {
            assertThat(taint(node)).isEmpty();
            assertThat(read(node).getMetadata().getLabels()).doesNotContainKey("gpufleet.io/health");
            assertThat(read(node).getMetadata().getAnnotations())
                    .doesNotContainKeys("gpufleet.io/marks", "gpufleet.io/next-step");
            assertThat(condition(node)).isEqualTo("False GpusHealthy");
        });
    }

    @Test
    void aFaultOfOneDeviceDegradesTheNodeAndLeavesItSchedulable() {
        // When
        daemon.sees(1, 48);

        // Then
        await().atMost(LONG).untilAsserted(() -> {
            assertThat(condition(node)).isEqualTo("True Xid48");
            assertThat(read(node).getMetadata().getLabels()).containsEntry("gpufleet.io/health", "degraded");
        });
        assertThat(taint(node)).isEmpty();
    }

    @Test
    void aTaintOfSomebodyElseStaysWhatItIs() {
        // Given
        var foreign = new Taint("NoSchedule", "gpufleet.io/unhealthy", null, "mine");
        var other = new Taint("NoExecute", "example.com/busy", null, "yes");
        edit(found -> new NodeBuilder(found)
                .editOrNewSpec()
                .withTaints(foreign, other)
                .endSpec()
                .build());

        // When
        daemon.sees(0, 79);
        await().atMost(LONG).untilAsserted(() -> assertThat(condition(node)).isEqualTo("True Xid79"));
        daemon.clears(0, 79);
        await().atMost(LONG).untilAsserted(() -> assertThat(condition(node)).startsWith("False"));

        // Then
        assertThat(read(node).getSpec().getTaints())
                .extracting(Taint::getKey, Taint::getValue)
                .containsExactlyInAnyOrder(
                        org.assertj.core.groups.Tuple.tuple("gpufleet.io/unhealthy", "mine"),
                        org.assertj.core.groups.Tuple.tuple("example.com/busy", "yes"));
    }

    @Test
    void anOperatorTakesADeviceOutAndPutsItBack() {
        // Given
        await().atMost(LONG)
                .until(() -> service.get("/v1/nodes/" + node + "/why").status() == 200);
        String path = "/v1/devices/" + daemon.gpu(0);

        // When
        int nameless =
                service.post(path + "/quarantine", "", "{\"reason\":\"noise\"}").status();
        int unknown = service.post(path + "/quarantine", "wrong", "{\"reason\":\"noise\"}")
                .status();
        int without = service.post(path + "/quarantine", "admin", "{}").status();
        int taken = service.post(path + "/quarantine", "admin", "{\"reason\":\"noise\"}")
                .status();

        // Then
        assertThat(List.of(nameless, unknown, without, taken)).containsExactly(401, 401, 400, 202);
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(
                                service.get("/v1/nodes/" + node + "/why").body())
                        .contains("\"QUARANTINED\"", "admin: noise"));
        await().atMost(LONG).untilAsserted(() -> assertThat(condition(node)).isEqualTo("True Quarantined"));

        assertThat(service.post(path + "/release", "admin", "{\"reason\":\"quiet\"}")
                        .status())
                .isEqualTo(202);
        await().atMost(LONG).untilAsserted(() -> assertThat(condition(node)).startsWith("False"));
    }

    @Test
    void aTaintTakenAwayByHandStaysAwayForTheEpisode() {
        // Given
        daemon.sees(0, 79);
        await().atMost(LONG).until(() -> taint(node).isPresent());

        // When
        edit(found -> new NodeBuilder(found)
                .editSpec()
                .withTaints(List.of())
                .endSpec()
                .build());

        // Then
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(
                                service.get("/v1/nodes/" + node + "/why").body())
                        .contains("operatorsHand"));
        assertThat(taint(node)).isEmpty();
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(read(node).getMetadata().getLabels())
                        .containsEntry("gpufleet.io/health", "degraded"));
    }

    @Test
    void aNodeThatIsOptedOutIsLeftAlone() {
        // Given
        edit(found -> new NodeBuilder(found)
                .editMetadata()
                .addToLabels("gpufleet.io/managed", "false")
                .endMetadata()
                .build());

        // When
        daemon.sees(0, 79);

        // Then
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(
                                service.get("/v1/nodes/" + node + "/why").body())
                        .contains("\"taint\":\"Xid79\"", "gpufleet.io/managed=false"));
        assertThat(taint(node)).isEmpty();
    }

    @Test
    void aTaintStillLandsWhenTheServiceIsKilledBetweenVerdictAndPatch() throws Exception {
        // Given: a verdict that could not be carried out, since the API server was away
        BrokerProcess own = BrokerProcess.start(dir.resolve("own-broker"));
        TopicAdmin.apply(own.bootstrap(), new Topics("gpu."));
        KubeApi before = KubeApi.start("127.0.0.1", 0);
        int port = java.net.URI.create(before.url()).getPort();
        Path config = before.kubeconfig(dir.resolve("own-kubeconfig"));
        before.close();
        var first =
                ServiceProcess.start(dir, Map.of("GPUFLEET_KAFKA", own.bootstrap(), "KUBECONFIG", config.toString()));
        try (var apart = new Daemon(own.bootstrap(), codec, "apart")) {
            apart.announces(2).sees(0, 79);
            await().atMost(LONG)
                    .untilAsserted(() ->
                            assertThat(first.get("/v1/nodes/apart/why").body()).contains("\"trusted\":false"));
            assertThat(first.get("/readyz").body()).contains("Kubernetes API");

            // When
            first.kill();
            KubeApi back = KubeApi.start("127.0.0.1", port);
            try (KubernetesClient there = client(config)) {
                there.nodes()
                        .resource(new NodeBuilder()
                                .withNewMetadata()
                                .withName("apart")
                                .endMetadata()
                                .build())
                        .create();
                var second = ServiceProcess.start(
                        dir, Map.of("GPUFLEET_KAFKA", own.bootstrap(), "KUBECONFIG", config.toString()));

                // Then
                await().atMost(LONG)
                        .untilAsserted(() -> assertThat(there.nodes()
                                        .withName("apart")
                                        .get()
                                        .getSpec()
                                        .getTaints())
                                .extracting(Taint::getValue)
                                .contains("Xid79"));
                second.close();
            } finally {
                back.close();
            }
        } finally {
            first.kill();
            own.close();
        }
    }

    @Test
    void aKubeconfigThatIsNotThereIsOneLine() {
        try (var wrong = ServiceProcess.start(
                dir, Map.of("GPUFLEET_KAFKA", broker.bootstrap(), "KUBECONFIG", "/does/not/exist"))) {
            assertThat(wrong.join()).isEqualTo(2);
            assertThat(wrong.said()).contains("KUBECONFIG=/does/not/exist").hasLineCount(1);
        }
    }

    @Test
    void topicsThatAreMissingAreOneLine() {
        try (var wrong = ServiceProcess.start(
                dir,
                Map.of(
                        "GPUFLEET_KAFKA", broker.bootstrap(),
                        "GPUFLEET_TOPIC_PREFIX", "other.",
                        "KUBECONFIG", dir.resolve("kubeconfig").toString()))) {
            assertThat(wrong.join()).isEqualTo(2);
            assertThat(wrong.said()).contains("other.health", "gpufleet topics apply");
        }
    }

    private static ServiceProcess service(Path kubeconfig, String instance) {
        return ServiceProcess.start(
                dir,
                Map.of(
                        "GPUFLEET_KAFKA", broker.bootstrap(),
                        "GPUFLEET_INSTANCE", instance,
                        "KUBECONFIG", kubeconfig.toString()));
    }

    private static KubernetesClient client(Path kubeconfig) throws IOException {
        return new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(Files.readString(kubeconfig)))
                .build();
    }

    /** Edits the Node as a person would: again, where somebody else was faster. */
    private void edit(UnaryOperator<Node> change) {
        await().atMost(LONG).ignoreExceptions().until(() -> {
            client.nodes().withName(node).edit(change);
            return true;
        });
    }

    private static Node read(String name) {
        return client.nodes().withName(name).require();
    }

    private static Optional<Taint> taint(String name) {
        Node found = read(name);
        return found.getSpec() == null
                ? Optional.empty()
                : found.getSpec().getTaints().stream()
                        .filter(taint -> "gpufleet.io/unhealthy".equals(taint.getKey()))
                        .findFirst();
    }

    private static String condition(String name) {
        Node found = read(name);
        return found.getStatus() == null
                ? ""
                : found.getStatus().getConditions().stream()
                        .filter(condition -> "GpuUnhealthy".equals(condition.getType()))
                        .map(condition -> condition.getStatus() + " " + condition.getReason())
                        .findFirst()
                        .orElse("");
    }

    private static List<String> eventReasons(String name) {
        return client.v1().events().inNamespace("default").list().getItems().stream()
                .filter(event -> name.equals(event.getInvolvedObject().getName()))
                .map(event -> event.getReason())
                .toList();
    }
}
