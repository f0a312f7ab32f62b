package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions of a former term that the broker has left open on some partitions. */
@NullMarked
class UnfinishedTransactionsIT {
    private static final String NODE = "n1";
    private static final String EVENT = "n1/1000/health/1";

    private final CountingProjection projection = new CountingProjection();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void recordsOfAnAbortedTransactionAreNotCommittedByTheNextTerm(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            TestBus bus = TestBus.onBroker(broker);
            // Given
            var forgotten = new ForgottenTransaction(broker, "gpufleet-t.counting");
            forgotten.leaveOpen(List.of(decision(bus, 1), state(bus, 2, 41)));

            // When
            try (var producer = new NodeEventProducer(bus, NODE, 1000, "b1");
                    var engine = bus.start("health-service-0", projection)) {
                await().until(() -> engine.role() == ReplicaRole.ACTIVE);
                producer.send(producer.fault("GPU-1", 79, ""));
                await().until(() -> engine.counters().get("events") == 1);

                // Then
                await().until(() -> !bus.decisionEvidence(true).isEmpty());
                assertThat(bus.decisionEvidence(true)).containsExactly(EVENT);
                assertThat(engine.states().get(NODE).orElseThrow().getVerdictRevision())
                        .isEqualTo(1);
            }
        }
    }

    @Test
    void recordsOfACommittedTransactionAreCommittedBeforeTheNextTermRestores(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            TestBus bus = TestBus.onBroker(broker);
            // Given
            var forgotten = new ForgottenTransaction(broker, "gpufleet-t.counting");
            forgotten.leaveOpenAsCommitted(List.of(state(bus, 1, 40)), List.of(decision(bus, 2), state(bus, 3, 41)));

            // When
            try (var engine = bus.start("health-service-0", projection)) {
                await().until(() -> engine.role() == ReplicaRole.ACTIVE);

                // Then
                assertThat(engine.states().get(NODE).orElseThrow().getVerdictRevision())
                        .isEqualTo(41);
                await().until(() -> !bus.decisionEvidence(true).isEmpty());
                assertThat(bus.decisionEvidence(true)).containsOnly(EVENT);
            }
        }
    }

    private static ProducerRecord<byte[], byte[]> decision(TestBus bus, long sequence) {
        return record(
                bus,
                Topic.DECISIONS,
                EventType.DECISION_TAKEN,
                sequence,
                DecisionTaken.newBuilder().addEvidence(EVENT).build());
    }

    private static ProducerRecord<byte[], byte[]> state(TestBus bus, long sequence, long revision) {
        return record(
                bus,
                Topic.HEALTH_STATE,
                EventType.HEALTH_CHANGED,
                sequence,
                NodeHealthState.newBuilder().setVerdictRevision(revision).build());
    }

    private static ProducerRecord<byte[], byte[]> record(
            TestBus bus, Topic topic, EventType type, long sequence, Message payload) {
        Instant now = Instant.now();
        return RecordKeyConverter.withByteKey(bus.codec.encode(
                new Envelope(
                        new EventId("health-service-0", 900, topic, sequence),
                        new EventSource.Service(TestBus.CLUSTER, "health-service-0"),
                        type,
                        "",
                        NODE,
                        new EventTime(now, now, 0),
                        ""),
                payload));
    }
}
