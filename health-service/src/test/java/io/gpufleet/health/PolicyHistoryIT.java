package io.gpufleet.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.kafka.HealthProjection;
import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.health.model.replay.ReplaySummary;
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
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
            fault(producer, FAULT);
            // A writer may send an event again.
            fault(producer, FAULT);
            fault(producer, new EventId("node-2", 1_000, Topic.HEALTH, 1));
            send(
                    producer,
                    new EventId("health-service-0", 1_000, Topic.DECISIONS, 2),
                    new EventSource.Service(TestBed.CLUSTER, "health-service-0"),
                    EventType.DECISION_TAKEN,
                    "node-3",
                    DecisionTaken.newBuilder()
                            .setRule("nvidia/presence")
                            .setFrom(HealthState.HEALTH_STATE_HEALTHY)
                            .setTo(HealthState.HEALTH_STATE_HEALTHY)
                            .setAction(Decision.HEALTH_UNKNOWN + Presence.DAEMON_SILENT)
                            .setOutcome(Outcome.OUTCOME_RECORDED)
                            .build());
            for (int node = 1; node <= 20; node++) {
                state(producer, node);
            }
            send(
                    producer,
                    DECISION,
                    new EventSource.Service(TestBed.CLUSTER, "health-service-0"),
                    EventType.DECISION_TAKEN,
                    "node-1",
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

    private static void fault(KafkaProducer<String, byte[]> producer, EventId id) {
        send(
                producer,
                id,
                new EventSource.Node(TestBed.CLUSTER, id.writer()),
                EventType.FAULT_OBSERVED,
                id.writer(),
                FaultObserved.newBuilder()
                        .setBootId("boot-1")
                        .setFault(Fault.newBuilder()
                                .setDeviceUuid("gpu-of-" + id.writer())
                                .setKind(FaultKind.FAULT_KIND_XID)
                                .setXid(79))
                        .build());
    }

    /** What the health-service knows of a node without faults. */
    private static void state(KafkaProducer<String, byte[]> producer, int number) {
        String node = "node-" + number;
        NodeState unknown = NodeState.unknown(node, Instant.now());
        var observed = new HealthSignal.NodeObjectObserved(
                new HealthSignal.EventMetadata("", Instant.now(), Duration.ZERO),
                "uid-" + number,
                new NodeReference.Placement(Map.of(), true));
        var machine = new HealthMachine(PolicyFile.load("nvidia"), Duration.ofMinutes(10));
        NodeState known = machine.decide(unknown, observed, Instant.now()).state();
        send(
                producer,
                new EventId("health-service-0", 1_000, Topic.HEALTH_STATE, number),
                new EventSource.Service(TestBed.CLUSTER, "health-service-0"),
                EventType.HEALTH_CHANGED,
                node,
                new HealthProjection(machine, DisruptionBudgets.NONE).write(node, known));
    }

    private static void send(
            KafkaProducer<String, byte[]> producer,
            EventId id,
            EventSource source,
            EventType type,
            String key,
            Message payload) {
        Instant now = Instant.now();
        var envelope = new Envelope(id, source, type, "", key, new EventTime(now, now, 0), "");
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
                        "decides    gpu-of-node-1: withdraw device (HEALTHY -> UNHEALTHY) by nvidia/xid-79, ACTED",
                        "recorded   would taint node (HEALTHY -> HEALTHY) by nvidia/xid-79, OVER_BUDGET: no room;"
                                + " budget: fleet: 1 of 1 nodes");
    }

    @Test
    void budgetsOfTheFleetOfTodayHoldBackWhatHasNoRoom() throws IOException {
        Path pools = Files.writeString(dir.resolve("pools.yaml"), "limits: {nodes: {percent: 5}}\n");

        assertThat(run("diff", "nvidia", "nvidia", "--from", "1h", "--pools", pools.toString()))
                .isZero();

        assertThat(err.toString(UTF_8)).contains("\r[####################] 100 %");
        assertThat(out.toString(UTF_8).lines())
                .satisfiesExactly(
                        head -> assertThat(head).isEqualTo(ReplaySummary.HEAD),
                        first -> assertThat(first).matches("nvidia +1 +2 +1  1 at .*"),
                        second -> assertThat(second).matches("nvidia +1 +2 +1  1 at .*"),
                        end -> assertThat(end)
                                .startsWith("3 signals of 3 nodes since")
                                .endsWith(": 0 decisions differ between nvidia and nvidia"));
    }

    @Test
    void poolsThatCannotBeReadAreOneClearLine() {
        assertThat(run("diff", "nvidia", "nvidia", "--pools", "/nowhere.yaml")).isEqualTo(2);

        assertThat(err.toString(UTF_8))
                .isEqualTo("policy: --pools='/nowhere.yaml' is neither standard nor unlimited nor a file that can be"
                        + " read; name one of them\n");
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
