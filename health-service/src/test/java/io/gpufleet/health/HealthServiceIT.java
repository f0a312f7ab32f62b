package io.gpufleet.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.contract.PublishedRecords;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program with a real broker and a fake API server: from a fault on the log to the fields of the Node. */
class HealthServiceIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static int tests;

    @TempDir
    private static Path dir;

    private static TestBed bed;
    private static Path lenient;
    private static KubernetesClient client;
    private static NodeFields fields;
    private static ProgramProcess service;

    private String node = "";
    private DaemonEventProducer daemon;

    @BeforeAll
    static void startTheFleet() throws Exception {
        bed = TestBed.start(dir);
        lenient = Files.writeString(
                dir.resolve("lenient.yaml"), "policy: lenient\nextends: nvidia\nxids:\n  79: {class: suspect}\n");
        client = bed.client();
        fields = new NodeFields(client);
        service = TestedHealthService.program(dir)
                .environment(bed.settings())
                .environment(
                        Map.of("GPUFLEET_INSTANCE", "health-service-0", "GPUFLEET_SHADOW_POLICY", lenient.toString()))
                .recordCache()
                .start()
                .awaitReady(TIMEOUT);
        await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_active 1.0"));
    }

    @AfterAll
    static void publishedRecordsFitTheContract() {
        service.close();
        var published = PublishedRecords.of(bed.broker().bootstrap()).check();
        bed.close();
        assertThat(published)
                .containsKeys("verdict.reached.v1", "decision.taken.v1", "health.changed.v1", "kubernetes.observed.v1");
    }

    @BeforeEach
    void createNodeWithTwoGpus() {
        node = "node-" + tests++;
        fields.create(node);
        daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), node).announce(TestGpus.h100(2));
    }

    @AfterEach
    void closeDaemon() {
        daemon.close();
    }

    @Test
    void faultBecomesTaintLabelAnnotationsConditionAndEvent() {
        // When
        daemon.observeXid(0, 79);

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(fields.taint(node)).map(Taint::getValue).contains("Xid79");
            assertThat(fields.taint(node)).map(Taint::getEffect).contains("NoSchedule");
            assertThat(fields.read(node).getMetadata().getLabels()).containsEntry("gpufleet.io/health", "unhealthy");
            assertThat(fields.read(node).getMetadata().getAnnotations())
                    .containsEntry("gpufleet.io/recommended-action", "reboot")
                    .containsKey("gpufleet.io/applied");
            assertThat(fields.condition(node)).isEqualTo("True Xid79");
            assertThat(fields.eventReasons(node)).contains("Xid79");
        });
    }

    @Test
    void provenRecoveryRemovesTheTaint() {
        // Given
        daemon.observeXid(0, 79);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(fields.condition(node)).isEqualTo("True Xid79"));

        // When
        daemon.clearXid(0, 79);

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(fields.taint(node)).isEmpty();
            assertThat(fields.read(node).getMetadata().getLabels()).doesNotContainKey("gpufleet.io/health");
            assertThat(fields.read(node).getMetadata().getAnnotations())
                    .containsKey("gpufleet.io/applied")
                    .doesNotContainKey("gpufleet.io/recommended-action");
            assertThat(fields.condition(node)).isEqualTo("False GpusHealthy");
        });
    }

    @Test
    void historyIsReplayedUnderTwoPolicies() throws Exception {
        // Given
        daemon.observeXid(0, 79);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(fields.condition(node)).isEqualTo("True Xid79"));

        // When
        var out = new ByteArrayOutputStream();
        var policies = new PolicyMain(
                new PrintStream(out),
                new PrintStream(OutputStream.nullOutputStream()),
                Map.of(
                        "GPUFLEET_KAFKA", bed.broker().bootstrap(),
                        "GPUFLEET_CLUSTER", bed.codec().cluster(),
                        "GPUFLEET_TOPIC_PREFIX", bed.codec().topics().prefix()));
        int same = policies.run("diff", "nvidia", "nvidia", "--from", "1h");
        int other = policies.run("diff", "nvidia", lenient.toString(), "--from", "1h");

        // Then
        assertThat(List.of(same, other)).containsExactly(0, 1);
        assertThat(out.toString(UTF_8))
                .contains(
                        "0 decisions differ between nvidia and nvidia",
                        node + " " + daemon.gpu(0) + ": only nvidia/xid-79 decides: withdraw device",
                        node + ": only nvidia/xid-79 decides: taint node");
    }

    @Test
    void whyShowsWhatTheShadowPolicyWouldNotDo() {
        // When
        daemon.observeXid(0, 79);

        // Then
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(
                                service.get("/v1/nodes/" + node + "/why").body())
                        .contains("\"only\":\"policy\",\"rule\":\"nvidia/xid-79\",\"action\":\"taint node\""));
        assertThat(service.get("/metrics").body()).contains("gpufleet_shadow_differences_total{only=\"policy\"");
    }

    @Test
    void faultOfOneDeviceDegradesTheNodeWithoutTaint() {
        // When
        daemon.observeXid(1, 48);

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(fields.condition(node)).isEqualTo("True Xid48");
            assertThat(fields.read(node).getMetadata().getLabels()).containsEntry("gpufleet.io/health", "degraded");
        });
        assertThat(fields.taint(node)).isEmpty();
    }

    @Test
    void foreignTaintStays() {
        // Given
        var foreign = new Taint("NoSchedule", "gpufleet.io/unhealthy", null, "mine");
        var other = new Taint("NoExecute", "example.com/busy", null, "yes");
        fields.edit(
                node,
                found -> new NodeBuilder(found)
                        .editOrNewSpec()
                        .withTaints(foreign, other)
                        .endSpec()
                        .build());

        // When
        daemon.observeXid(0, 79);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(fields.condition(node)).isEqualTo("True Xid79"));
        daemon.clearXid(0, 79);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(fields.condition(node)).startsWith("False"));

        // Then
        assertThat(fields.read(node).getSpec().getTaints())
                .extracting(Taint::getKey, Taint::getValue)
                .containsExactlyInAnyOrder(
                        org.assertj.core.groups.Tuple.tuple("gpufleet.io/unhealthy", "mine"),
                        org.assertj.core.groups.Tuple.tuple("example.com/busy", "yes"));
    }

    @Test
    void operatorQuarantinesAndReleasesADevice() {
        // Given
        await().atMost(TIMEOUT)
                .until(() -> service.get("/v1/nodes/" + node + "/why").status() == 200);
        String path = "/v1/devices/" + daemon.gpu(0);

        // When
        int withoutToken =
                service.post(path + "/quarantine", "", "{\"reason\":\"noise\"}").status();
        int unknownToken = service.post(path + "/quarantine", "wrong", "{\"reason\":\"noise\"}")
                .status();
        int withoutReason = service.post(path + "/quarantine", "admin", "{}").status();
        int array = service.post(path + "/quarantine", "admin", "[1]").status();
        int number =
                service.post(path + "/quarantine", "admin", "{\"reason\":5}").status();
        int accepted = service.post(path + "/quarantine", "admin", "{\"reason\":\"noise\"}")
                .status();

        // Then
        assertThat(List.of(withoutToken, unknownToken, withoutReason, array, number, accepted))
                .containsExactly(401, 401, 400, 400, 400, 202);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(
                                service.get("/v1/nodes/" + node + "/why").body())
                        .contains("\"QUARANTINED\"", "admin: noise"));
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(fields.condition(node)).isEqualTo("True Quarantined"));

        assertThat(service.post(path + "/release", "admin", "{\"reason\":\"quiet\"}")
                        .status())
                .isEqualTo(202);
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(fields.condition(node)).startsWith("False"));
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(service.get(path + "/timeline").body())
                        .contains("withdraw device", "admin: noise", "trust device again", "\"serial\""));
        assertThat(service.get("/v1/incidents?device=" + daemon.gpu(0)).body())
                .contains("\"open\":false", "\"effects\":[\"withdraw device\"");
    }

    @Test
    void timelineIsFoundBySerialNumberToo() {
        // Given
        String serial = "serial-" + node;
        NodeAnnounced.Builder announced = daemon.announcement(TestGpus.h100(2));
        announced.getGpusBuilder(0).setSerial(serial);
        daemon.announce(announced.build());

        // When
        daemon.observeXid(0, 48);

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> {
            var timeline = service.get("/v1/devices/" + serial + "/timeline");
            assertThat(timeline.status()).isEqualTo(200);
            assertThat(timeline.body())
                    .contains(
                            "\"device\":\"" + daemon.gpu(0) + "\"", "\"serial\":\"" + serial + "\"", "withdraw device");
        });
    }

    @ParameterizedTest(name = "request with traceparent {0}")
    @CsvSource({"no trace, 00-.{49}-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01, 00-0af7.*3331-01"})
    void commandAndWhatItCausesHaveOneTrace(String header, String expected) {
        // Given
        await().atMost(TIMEOUT)
                .until(() -> service.get("/v1/nodes/" + node + "/why").status() == 200);
        try (var events = new EventReader(
                bed.broker().bootstrap(), bed.codec(), node, Topic.SIGNALS, Topic.VERDICTS, Topic.DECISIONS)) {
            // When
            String path = "/v1/devices/" + daemon.gpu(0) + "/quarantine";
            service.post(path, "admin", "{\"reason\":\"noise\"}", "traceparent", header);

            // Then
            await().atMost(TIMEOUT)
                    .until(() ->
                            traces(events, EventType.COMMAND_ISSUED).stream().anyMatch(it -> it.matches(expected)));
            String trace = traces(events, EventType.COMMAND_ISSUED).getFirst();
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(traces(events, EventType.VERDICT_REACHED))
                            .contains(trace));
            assertThat(traces(events, EventType.DECISION_TAKEN)).contains(trace);
            assertThat(traces(events, EventType.KUBERNETES_OBSERVED))
                    .isNotEmpty()
                    .doesNotContain("");
        }
    }

    private static List<String> traces(EventReader events, EventType type) {
        return events.read().stream()
                .map(read -> read.event().envelope())
                .filter(envelope -> envelope.type() == type)
                .map(Envelope::traceparent)
                .toList();
    }

    @Test
    void manuallyRemovedTaintStaysAwayForTheEpisode() {
        // Given
        daemon.observeXid(0, 79);
        await().atMost(TIMEOUT).until(() -> fields.taint(node).isPresent());

        // When
        fields.edit(
                node,
                found -> new NodeBuilder(found)
                        .editSpec()
                        .withTaints(List.of())
                        .endSpec()
                        .build());

        // Then
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(
                                service.get("/v1/nodes/" + node + "/why").body())
                        .contains("\"override\""));
        assertThat(fields.taint(node)).isEmpty();
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(fields.read(node).getMetadata().getLabels())
                        .containsEntry("gpufleet.io/health", "degraded"));
    }

    @Test
    void optedOutNodeIsLeftAlone() {
        // Given
        fields.edit(
                node,
                found -> new NodeBuilder(found)
                        .editMetadata()
                        .addToLabels("gpufleet.io/managed", "false")
                        .endMetadata()
                        .build());

        // When
        daemon.observeXid(0, 79);

        // Then
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(
                                service.get("/v1/nodes/" + node + "/why").body())
                        .contains("\"taint\":\"Xid79\"", "gpufleet.io/managed=false"));
        assertThat(fields.taint(node)).isEmpty();
    }
}
