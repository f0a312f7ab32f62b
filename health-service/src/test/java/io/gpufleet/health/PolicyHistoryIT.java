package io.gpufleet.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.proto.health.v1.Outcome;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The policy commands that read the history of a Kafka. */
class PolicyHistoryIT {
    private static final EventId FAULT = new EventId("node-1", 1_000, Topic.HEALTH, 1);
    private static final EventId DECISION = new EventId("health-service-0", 1_000, Topic.DECISIONS, 1);

    @TempDir
    private static Path dir;

    private static TestBed bed;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeAll
    static void writeTheHistory() {
        bed = TestBed.start(dir);
        try (var producer = new KafkaProducer<String, byte[]>(
                Map.of("bootstrap.servers", bed.broker().bootstrap()),
                new StringSerializer(),
                new ByteArraySerializer())) {
            send(
                    producer,
                    FAULT,
                    new EventSource.Node(TestBed.CLUSTER, "node-1"),
                    EventType.FAULT_OBSERVED,
                    FaultObserved.newBuilder()
                            .setBootId("boot-1")
                            .setFault(Fault.newBuilder()
                                    .setDeviceUuid("gpu-0")
                                    .setKind(FaultKind.FAULT_KIND_XID)
                                    .setXid(79))
                            .build());
            send(
                    producer,
                    DECISION,
                    new EventSource.Service(TestBed.CLUSTER, "health-service-0"),
                    EventType.DECISION_TAKEN,
                    DecisionTaken.newBuilder()
                            .addEvidence(FAULT.toString())
                            .setRule("nvidia/xid-79")
                            .setFrom(HealthState.HEALTH_STATE_HEALTHY)
                            .setTo(HealthState.HEALTH_STATE_HEALTHY)
                            .setAction("would taint node")
                            .setOutcome(Outcome.OUTCOME_OVER_BUDGET)
                            .setReason("no room")
                            .setBudget("fleet: 1 of 1 nodes")
                            .build());
        }
    }

    private static void send(
            KafkaProducer<String, byte[]> producer, EventId id, EventSource source, EventType type, Message payload) {
        Instant now = Instant.now();
        var envelope = new Envelope(id, source, type, "", "node-1", new EventTime(now, now, 0), "");
        producer.send(bed.codec().encode(envelope, payload));
    }

    @AfterAll
    static void stop() {
        bed.close();
    }

    private int run(String... arguments) {
        return new PolicyMain(
                        new PrintStream(out),
                        new PrintStream(err),
                        Map.of(
                                "GPUFLEET_KAFKA", bed.broker().bootstrap(),
                                "GPUFLEET_CLUSTER", bed.codec().cluster(),
                                "GPUFLEET_TOPIC_PREFIX", bed.codec().topics().prefix()))
                .run(arguments);
    }

    @Test
    void eventIsExplainedByThePolicyAndByWhatWasDecidedThen() {
        assertThat(run("explain", "event", FAULT.toString(), "--from", "1h")).isZero();

        assertThat(out.toString(UTF_8))
                .contains(
                        "decides    gpu-0: withdraw device (HEALTHY -> UNHEALTHY) by nvidia/xid-79, ACTED",
                        "recorded   would taint node (HEALTHY -> HEALTHY) by nvidia/xid-79, OVER_BUDGET: no room;"
                                + " budget: fleet: 1 of 1 nodes");
    }

    @Test
    void eventThatIsNotThereIsOneClearLine() {
        assertThat(run("explain", "event", "node-1/1000/health/2", "--from", "1h"))
                .isEqualTo(2);

        assertThat(err.toString(UTF_8))
                .contains("policy: event 'node-1/1000/health/2' is not among the 1 signals since")
                .contains("--from goes further back");
    }
}
