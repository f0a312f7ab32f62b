package io.gpufleet.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Taint;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.KubernetesObservationProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.release.LaterRelease;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program with records that no healthy daemon sends, and with settings that cannot work. */
class HealthServiceRecordsIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int REPETITIONS = 25;

    @TempDir
    private static Path dir;

    private static TestBed bed;
    private static ProgramProcess service;
    private static KafkaProducer<String, byte[]> producer;

    @BeforeAll
    static void startTheService() {
        bed = TestBed.start(dir);
        service = program(Map.of()).recordCache().start();
        producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bed.broker().bootstrap()),
                new StringSerializer(),
                new ByteArraySerializer());
        await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_active 1.0"));
    }

    @AfterAll
    static void stopAll() {
        producer.close();
        service.close();
        bed.close();
    }

    private static ProducerRecord<String, byte[]> announced(String node, long incarnation) {
        Instant now = Instant.now();
        return bed.codec()
                .encode(
                        new Envelope(
                                new EventId(node, incarnation, Topic.INVENTORY, 1),
                                new EventSource.Node(TestBed.CLUSTER, node),
                                EventType.NODE_ANNOUNCED,
                                "",
                                node,
                                new EventTime(now, now, 0),
                                ""),
                        NodeAnnounced.newBuilder().setBootId("boot-" + node).build());
    }

    private static String explanation(String node) {
        return service.get("/v1/nodes/" + node + "/why").body();
    }

    @Test
    void recordOfTheYear12345IsDeadLetteredAndTheServiceGoesOn() {
        // Given
        ProducerRecord<String, byte[]> bad = announced("node-a", 1_000);
        bad.headers().remove("ce_time").add("ce_time", "+12345-01-01T00:00:00Z".getBytes(UTF_8));

        // When
        producer.send(bad);
        producer.flush();

        // Then
        await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_projection_dead_letters_total 1.0"));
        try (var daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), "node-a")) {
            daemon.announce(TestGpus.h100(2)).observeXid(0, 79);
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(explanation("node-a")).contains("\"trusted\":false"));
        }
        assertThat(service.hasMetric("gpufleet_active 1.0")).isTrue();
    }

    @Test
    void nodeWhoseEventsAreAllRefusedIsExplained() {
        // Given
        long incarnation = System.currentTimeMillis();
        producer.send(announced("node-b", incarnation));
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(explanation("node-b")).contains("\"bootId\":\"boot-node-b\""));
        assertThat(explanation("node-b")).doesNotContain("eventsRefused");

        // When: a daemon of the same boot whose clock went back
        for (int i = 0; i < REPETITIONS; i++) {
            producer.send(announced("node-b", incarnation - 1));
        }
        producer.flush();

        // Then
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(explanation("node-b"))
                        .contains(
                                "eventsRefused",
                                Instant.ofEpochMilli(incarnation).toString()));
    }

    @Test
    void incidentNamesTheOwnerOfThePodThatItHit() {
        // Given
        try (var daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), "node-c");
                var pods = new KubernetesObservationProducer(bed.broker().bootstrap(), bed.codec())) {
            daemon.announce(TestGpus.h100(2));
            pods.podBound("node-c", "ml", "train-0", "Job/train");

            // When
            daemon.observeXidHeldBy("ml", "train-0", 0, 79);

            // Then
            for (String path : List.of("/v1/incidents?node=node-c", "/v1/nodes/node-c/why")) {
                await().atMost(TIMEOUT)
                        .untilAsserted(() -> assertThat(service.get(path).body())
                                .contains("\"pod\":\"train-0\"", "\"owner\":\"Job/train\""));
            }
        }
    }

    @Test
    void nodeThatIsRecreatedUnderTheServiceIsTaintedAgain() {
        // Given
        var fields = new NodeFields(bed.client());
        fields.create("node-d");
        try (var daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), "node-d")) {
            daemon.announce(TestGpus.h100(2)).observeXid(0, 79);
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(fields.taint("node-d"))
                            .map(Taint::getValue)
                            .contains("Xid79"));
            String former = fields.read("node-d").getMetadata().getUid();

            // When
            bed.client().nodes().withName("node-d").delete();
            fields.create("node-d");

            // Then
            String newest = fields.read("node-d").getMetadata().getUid();
            assertThat(newest).isNotEqualTo(former);
            await().atMost(TIMEOUT).untilAsserted(() -> {
                assertThat(fields.taint("node-d")).map(Taint::getValue).contains("Xid79");
                assertThat(fields.read("node-d").getMetadata().getAnnotations()).containsKey("gpufleet.io/applied");
                assertThat(fields.condition("node-d")).isEqualTo("True Xid79");
                assertThat(explanation("node-d")).contains(newest).doesNotContain(former);
            });
        }
    }

    @Test
    void buildIsAMetric() {
        assertThat(service.get("/metrics").body()).contains("gpufleet_build_info{", "revision=", "version=");
    }

    @Test
    void requestsToTheApiServerAreAMetric() {
        assertThat(service.get("/metrics").body())
                .contains("gpufleet_kubernetes_requests_total{method=\"GET\",resource=\"nodes\"}");
    }

    @Test
    void aKubeconfigThatIsNotThereIsOneLine() {
        try (var wrong = program(Map.of("KUBECONFIG", "/does/not/exist")).start()) {
            assertThat(wrong.awaitExit(TIMEOUT)).isEqualTo(2);
            assertThat(wrong.log()).contains("KUBECONFIG=/does/not/exist");
            assertThat(wrong.log().lines().filter(line -> !line.contains("waiting for the broker")))
                    .hasSize(1);
        }
    }

    @Test
    void topicsThatAreMissingAreOneLine() {
        try (var wrong = program(Map.of("GPUFLEET_TOPIC_PREFIX", "other.")).start()) {
            assertThat(wrong.awaitExit(TIMEOUT)).isEqualTo(2);
            assertThat(wrong.log()).contains("other.health", "gpufleet topics apply");
        }
    }

    @Test
    void runningProcessReadsAChangedPolicyFileAndKeepsTheFormerOneWhileTheNewestIsBad() throws Exception {
        // Given
        policy("ignore");
        Map<String, String> settings =
                Map.of("GPUFLEET_INSTANCE", "health-service-1", "GPUFLEET_POLICY", site().toString());
        try (var standby = program(settings).start().awaitReady(TIMEOUT)) {
            // When
            policy("suspect");
            await().atMost(TIMEOUT).until(() -> standby.log().contains("file replaced"));
            policy("nonsense");

            // Then
            await().atMost(TIMEOUT)
                    .untilAsserted(
                            () -> assertThat(standby.get("/readyz").body()).contains("policy: ", "nonsense"));
            assertThat(standby.log()).contains("file not replaced, the former one stays in force");
            policy("withdraw");
            standby.awaitReady(TIMEOUT);
        }
    }

    private static Path site() {
        return dir.resolve("site.yaml");
    }

    private static void policy(String faultClass) throws IOException {
        Files.writeString(site(), "policy: site\nextends: nvidia\nxids:\n  79: {class: " + faultClass + "}\n");
    }

    @Test
    void processEndsByItsEngineWithALineThatSaysWhy() {
        // Given
        Map<String, String> settings = Map.of("GPUFLEET_INSTANCE", "health-service-2");
        try (var standby = program(settings).start().awaitReady(TIMEOUT);
                var later = new LaterRelease(bed, "health-service-9", Topic.HEALTH_STATE)) {
            // When
            later.write(EventType.HEALTH_CHANGED, NodeHealthState.getDefaultInstance());

            // Then
            assertThat(later.mistakesOfEnd(standby, TIMEOUT)).isEmpty();
        }
    }

    private static ProgramProcess.Builder program(Map<String, String> settings) {
        return ProgramProcess.of("health-service", HealthMain.class.getName(), dir)
                .environment(bed.settings())
                .environment(Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"))
                .environment(Map.of("GPUFLEET_SESSION_TIMEOUT", "2s"))
                .environment(settings);
    }
}
