package io.gpufleet.allocation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.KubernetesObservationProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.contract.PublishedRecords;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ledger on a real broker: sums are exact under duplicates and killed replicas. */
@NullMarked
class LedgerIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    static Path dir;

    private static TestBed bed;
    private static Map<String, String> settings;

    @BeforeAll
    static void open() {
        bed = TestBed.start(dir);
        settings = new HashMap<>(bed.settings());
        settings.put("GPUFLEET_WEBHOOK_HOST", "127.0.0.1");
        settings.put("GPUFLEET_WEBHOOK_PORT", Integer.toString(FreePort.next()));
    }

    @AfterAll
    static void publishedRecordsFitTheContract() {
        var published = PublishedRecords.of(bed.broker().bootstrap()).check();
        bed.close();
        assertThat(published)
                .containsKeys("usage.closed.v1", "usage.summed.v1", "holdings.changed.v1", "offsets.committed.v1");
    }

    private static ProgramProcess startReady() {
        ProgramProcess service = ProgramProcess.of(
                        "allocation-service", AllocationMain.class.getName(), Path.of("target"))
                .environment(settings)
                .freePort("GPUFLEET_GRPC_PORT")
                .recordCache()
                .start();
        service.awaitReady(TIMEOUT);
        await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_quota_leader 1.0"));
        return service;
    }

    private static double allocatedSeconds(ProgramProcess service) {
        var answer = service.get("/v1/usage");
        if (answer.status() != 200) {
            return -1;
        }
        JsonArray rows = new JsonObject(answer.body()).getJsonArray("usage");
        return rows.stream()
                .map(JsonObject.class::cast)
                .filter(row -> row.getString("quality").equals("allocated"))
                .mapToDouble(row -> row.getDouble("gpuSeconds"))
                .sum();
    }

    private static int open(ProgramProcess service) {
        var answer = service.get("/v1/holdings");
        return answer.status() == 200
                ? new JsonObject(answer.body()).getJsonArray("holdings").size()
                : -1;
    }

    /** A holder of the first GPU, at a time that no changelog could hold. */
    private static ProducerRecord<String, byte[]> recordOfYear12345(String node) {
        Instant now = Instant.now();
        var held = DevicesHeld.newBuilder().setBootId("boot-" + node).setComplete(true);
        ProducerRecord<String, byte[]> rec = bed.codec()
                .encode(
                        new Envelope(
                                new EventId(node, 1, Topic.ALLOCATION, 1),
                                new EventSource.Node(TestBed.CLUSTER, node),
                                EventType.DEVICES_HELD,
                                "",
                                node,
                                new EventTime(now, now, 0),
                                ""),
                        held.build());
        rec.headers().remove("ce_time").add("ce_time", "+12345-01-01T00:00:00Z".getBytes(UTF_8));
        return rec;
    }

    @Test
    void recordThatCannotBeReadGoesToTheDeadLettersAndTheNextOneIsApplied() throws Exception {
        String node = "n2";
        Map<String, Object> producing = Map.of("bootstrap.servers", bed.broker().bootstrap(), "acks", "all");
        try (ProgramProcess service = startReady();
                var daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), node);
                var producer = new KafkaProducer<>(producing, new StringSerializer(), new ByteArraySerializer())) {
            // When
            producer.send(recordOfYear12345(node)).get();
            daemon.announce(TestGpus.a100(1));
            daemon.hold(Instant.now(), Map.of(0, "one"));
            // Then
            await().atMost(TIMEOUT)
                    .until(() -> service.get("/v1/holdings?node=" + node).body().contains(daemon.gpu(0)));
            // What was committed can be read before it is counted.
            await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_projection_dead_letters_total 1.0"));
            assertThat(service.isReady()).isTrue();
            assertThat(service.get("/metrics").body()).contains("gpufleet_build_info{");
        }
    }

    @Test
    void sumOfAPastDayIsWritten() {
        Instant noon = Instant.now().truncatedTo(ChronoUnit.DAYS).minusSeconds(129_600);
        try (var daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), "n3");
                ProgramProcess service = startReady()) {
            daemon.announce(TestGpus.a100(1));
            daemon.hold(noon, Map.of(0, "past"));
            daemon.hold(noon.plusSeconds(60), Map.of());
            // Then
            await().atMost(TIMEOUT)
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> !EventReader.all(
                                    bed.broker().bootstrap(), bed.codec().topics(), Topic.USAGE_DAILY)
                            .isEmpty());
            String from = noon.truncatedTo(ChronoUnit.DAYS).toString();
            String to = noon.truncatedTo(ChronoUnit.DAYS).plusSeconds(86_400).toString();
            assertThat(service.get("/v1/usage?group-by=node&from=" + from + "&to=" + to)
                            .body())
                    .contains("\"gpuSeconds\":60.000");
        }
    }

    private static double seconds(ProgramProcess service, String node, String quality) {
        var answer = service.get("/v1/usage?group-by=node,quality");
        return answer.status() != 200
                ? -1
                : new JsonObject(answer.body())
                        .getJsonArray("usage").stream()
                                .map(JsonObject.class::cast)
                                .filter(row -> row.getString("node").equals(node)
                                        && row.getString("quality").equals(quality))
                                .mapToDouble(row -> row.getDouble("gpuSeconds"))
                                .sum();
    }

    @Test
    void timeThatNobodyHoldsIsAccountedForAcrossAKill() {
        String node = "n4";
        try (var daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), node)) {
            ProgramProcess first = startReady();
            var announcement = daemon.announcement(TestGpus.a100(2));
            announcement.getGpusBuilderList().forEach(gpu -> gpu.setResource("nvidia.com/gpu"));
            daemon.announce(announcement.build());
            daemon.hold(Instant.now(), Map.of(0, "one"));
            await().atMost(TIMEOUT).until(() -> seconds(first, node, "idle") >= 1);
            // When
            first.kill();
            ProgramProcess second = startReady();
            // Then
            await().atMost(TIMEOUT).until(() -> seconds(second, node, "allocated") >= 2);
            assertThat(seconds(second, node, "idle")).isGreaterThanOrEqualTo(seconds(second, node, "allocated") - 1);
            second.close();
        }
    }

    @Test
    void sumsAreExactUnderDuplicatesKillsAndReplay() {
        Instant start = Instant.now().minusSeconds(3_600).truncatedTo(ChronoUnit.SECONDS);
        try (var daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), "n1");
                var signals = new KubernetesObservationProducer(bed.broker().bootstrap(), bed.codec())) {
            ProgramProcess service = startReady();
            // Given three pods: 100 s on one GPU, 200 s on two, 50 s on one after the first
            daemon.announce(TestGpus.a100(4));
            daemon.allocate(start, 0);
            daemon.holdTwice(start.plusMillis(500), Map.of(0, "one"));
            daemon.allocate(start.plusSeconds(10), 1, 2);
            daemon.hold(start.plusSeconds(11), Map.of(0, "one", 1, "two", 2, "two"));
            ProgramProcess first = service;
            await().atMost(TIMEOUT).until(() -> open(first) == 3);
            // When the replica is killed while facts arrive
            service.kill();
            signals.podFinished("n1", "ml", "one", start.plusSeconds(100));
            daemon.holdTwice(start.plusSeconds(103), Map.of(1, "two", 2, "two"));
            daemon.allocate(start.plusSeconds(110), 0);
            ProgramProcess second = startReady();
            daemon.hold(start.plusSeconds(111), Map.of(0, "three", 1, "two", 2, "two"));
            signals.podFinished("n1", "ml", "three", start.plusSeconds(160));
            second.kill();
            daemon.hold(start.plusSeconds(215), Map.of());
            ProgramProcess third = startReady();
            signals.podFinished("n1", "ml", "two", start.plusSeconds(210));
            signals.podFinished("n1", "ml", "two", start.plusSeconds(210));
            // Then
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(allocatedSeconds(third)).isEqualTo(100 + 2 * 200 + 50));
            assertThat(open(third)).isZero();
            third.close();
        }
    }
}
