package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A dead letter that is written again is applied once by the service that could not apply it, and by no other. */
@NullMarked
class DeadLetterReplayIT {
    private final TestBus bus = TestBus.withNewPrefix();

    /** The release in which the output is small and nothing is refused any more. */
    private static final class FixedProjection extends CountingProjection {
        @Override
        public Effects<NodeHealthState> on(States<NodeHealthState> states, Inbound input, Instant now) {
            return super.on(states, input instanceof Inbound.Event event ? harmless(event) : input, now);
        }

        private static Inbound.Event harmless(Inbound.Event event) {
            if (!(event.payload() instanceof FaultObserved fault)) {
                return event;
            }
            var small = fault.toBuilder();
            small.getFaultBuilder().clearMessage();
            return new Inbound.Event(event.envelope(), small.build(), event.appendedAt(), event.newMachine());
        }
    }

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void deadLetterIsAppliedOnceHoweverOftenItIsReplayed() {
        // Given
        deadLetter(CountingProjection.HUGE);
        ConsumerRecord<byte[], byte[]> letter = letters().getFirst();
        var fixed = new FixedProjection();
        try (var engine = bus.start("health-service-0", fixed)) {
            // When
            replay(letter, UnaryOperator.identity());
            replay(letter, UnaryOperator.identity());

            // Then
            await().until(() ->
                    engine.counters().get("replayed") == 1 && engine.counters().get("duplicates") == 1);
            assertThat(revision(engine)).isEqualTo(3);
            assertThat(bus.decisionEvidence(true))
                    .containsExactly("n1/1000/health/1", "n1/1000/health/2", "n1/1000/health/3");
            assertThat(letters()).hasSize(2).last().satisfies(note -> {
                assertThat(header(note, "dlq.replayed")).isNotEmpty();
                assertThat(note.value()).isNull();
                assertThat(DeadLetterOrigin.of(note.headers())).isEqualTo(DeadLetterOrigin.of(letter.headers()));
            });
        }
        // And after a restart
        try (var engine = bus.start("health-service-0", new FixedProjection())) {
            replay(letter, UnaryOperator.identity());
            await().until(() -> engine.counters().get("duplicates") == 1);
            assertThat(revision(engine)).isEqualTo(3);
        }
    }

    @Test
    void replayedEventIsAsOldAsItWasFound() {
        // Given a dead letter that was found an hour ago
        deadLetter(CountingProjection.REFUSED);
        ConsumerRecord<byte[], byte[]> letter = letters().getFirst();
        long hourAgo = letter.timestamp() - Duration.ofHours(1).toMillis();
        letter.headers()
                .remove("dlq.timestamp")
                .add("dlq.timestamp", Long.toString(hourAgo).getBytes(UTF_8));
        try (var engine = bus.start("health-service-0", new FixedProjection())) {
            // When
            replay(letter, UnaryOperator.identity());

            // Then
            await().until(() -> engine.counters().get("replayed") == 1);
            assertThat(bus.read(Topic.DECISIONS, true))
                    .extracting(rec -> (DecisionTaken) bus.event(rec).payload())
                    .filteredOn(decision -> decision.getEvidence(0).equals("n1/1000/health/2"))
                    .singleElement()
                    .satisfies(decision -> assertThat(age(decision)).isGreaterThanOrEqualTo(Duration.ofHours(1)));
        }
    }

    @Test
    void replayThatFailsAgainIsADeadLetterOfTheSameOrigin() {
        deadLetter(CountingProjection.REFUSED);
        ConsumerRecord<byte[], byte[]> letter = letters().getFirst();
        try (var engine = bus.start("health-service-0", new CountingProjection())) {
            // When
            replay(letter, UnaryOperator.identity());

            // Then
            await().until(() -> engine.counters().get("dead_letters") == 1);
            assertThat(letters()).hasSize(2).allSatisfy(again -> {
                assertThat(DeadLetterOrigin.of(again.headers())).isEqualTo(DeadLetterOrigin.of(letter.headers()));
                assertThat(again.headers().headers("dlq.offset")).hasSize(1);
                assertThat(again.headers().lastHeader("dlq.replayed")).isNull();
            });
        }
        try (var engine = bus.start("health-service-0", new FixedProjection())) {
            replay(letters().getLast(), UnaryOperator.identity());
            replay(letter, UnaryOperator.identity());
            await().until(() -> engine.counters().get("duplicates") == 1);
            assertThat(engine.counters().get("replayed")).isEqualTo(1);
            assertThat(revision(engine)).isEqualTo(3);
        }
    }

    @Test
    void replayForAnotherServiceIsADuplicate() {
        deadLetter(CountingProjection.REFUSED);
        try (var engine = bus.start("health-service-0", new FixedProjection())) {
            // When
            replay(letters().getFirst(), rec -> {
                rec.headers().remove("dlq.consumer").add("dlq.consumer", "another-service".getBytes(UTF_8));
                return rec;
            });

            // Then
            await().until(() -> engine.counters().get("duplicates") == 1);
            assertThat(engine.counters().get("replayed")).isZero();
            assertThat(revision(engine)).isEqualTo(2);
        }
    }

    @Test
    void replayWithoutAnOriginIsADeadLetter() {
        deadLetter(CountingProjection.REFUSED);
        try (var engine = bus.start("health-service-0", new FixedProjection())) {
            // When
            replay(letters().getFirst(), rec -> {
                rec.headers().remove("dlq.offset");
                return rec;
            });

            // Then
            await().until(() -> engine.counters().get("dead_letters") == 1);
            assertThat(header(letters().getLast(), "dlq.reason")).isEqualTo("header dlq.offset is missing");
            assertThat(engine.counters().get("replayed")).isZero();
        }
    }

    /** Three faults of a node, of which the second cannot be applied. */
    private void deadLetter(String message) {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", new CountingProjection())) {
            node.send(node.fault("GPU-1", 79, ""));
            node.send(node.fault("GPU-2", 79, message));
            node.send(node.fault("GPU-3", 79, ""));
            await().until(() ->
                    engine.counters().get("events") == 2 && engine.counters().get("dead_letters") == 1);
        }
    }

    private void replay(ConsumerRecord<byte[], byte[]> letter, UnaryOperator<ProducerRecord<byte[], byte[]>> change) {
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(change.apply(DeadLetterOrigin.of(letter.headers()).replay(letter, Instant.now())));
        }
    }

    private List<ConsumerRecord<byte[], byte[]>> letters() {
        return bus.read(Topic.DEADLETTER, true);
    }

    private static long revision(ProjectionEngine<NodeHealthState> engine) {
        return engine.states().get("n1").orElseThrow().getVerdictRevision();
    }

    private static Duration age(DecisionTaken decision) {
        return Duration.ofMillis(Long.parseLong(decision.getReason().substring("age ".length())));
    }

    private static String header(ConsumerRecord<byte[], byte[]> rec, String name) {
        return new String(rec.headers().lastHeader(name).value(), UTF_8);
    }
}
