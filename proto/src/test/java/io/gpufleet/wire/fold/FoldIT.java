package io.gpufleet.wire.fold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealth;
import io.gpufleet.proto.telemetry.v1.TelemetrySampled;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One replica and what the log does to it. */
@NullMarked
class FoldIT {
    private final Bus bus = Bus.fresh();
    private final CountingFold fold = new CountingFold();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(40));
    }

    @Test
    void duplicatesAreFoldedOnceAndCounted() {
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var engine = bus.start("s-0", fold)) {
            // Given
            var first = pen.send(pen.fault("GPU-1", 79, ""));
            pen.send(pen.fault("GPU-2", 31, ""));

            // When
            pen.send(first);
            pen.send(pen.announced());

            // Then
            await().until(() ->
                    engine.counters().folded() == 3 && engine.counters().duplicates() == 1);
            assertThat(bus.decided(true))
                    .containsExactly("n1/1000/health/1", "n1/1000/health/2", "n1/1000/inventory/1");
            assertThat(engine.role()).isEqualTo(Role.ACTIVE);
            assertThat(engine.notReady()).isEmpty();
            assertThat(engine.activeAddress()).isEqualTo("s-0:9090");
            assertThat(fold.committed).hasSize(6);
        }
        assertThat(fold.life).containsExactly("activated", "deactivated");
    }

    @Test
    void orderBetweenTopicsDoesNotMatter() {
        try (var one = new NodePen(bus, "n1", 1000, "b1");
                var other = new NodePen(bus, "n2", 1000, "b1");
                var engine = bus.start("s-0", fold)) {
            // When the same facts of two nodes arrive in opposite order of the topics
            one.send(one.announced());
            one.send(one.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().folded() == 2);
            other.send(other.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().folded() == 3);
            other.send(other.announced());
            await().until(() -> engine.counters().folded() == 4);

            // Then
            assertThat(fold.state.get("n2")).isEqualTo(fold.state.get("n1"));
        }
    }

    @Test
    void stateLoadedEqualsTheStateInMemoryAndNothingIsDecidedAgain() {
        Map<String, String> inMemory;
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var second = new NodePen(bus, "n2", 1000, "b1");
                var engine = bus.start("s-0", fold)) {
            // Given
            for (int i = 0; i < 50; i++) {
                pen.send(pen.fault("GPU-" + i % 8, 13 + i, ""));
                second.send(second.announced());
            }
            await().until(() -> engine.counters().folded() == 100);
            inMemory = canonical(fold);
        }
        var loaded = new CountingFold();
        try (var engine = bus.start("s-0", loaded)) {
            // When
            await().until(() -> engine.role() == Role.ACTIVE);

            // Then
            assertThat(canonical(loaded)).isEqualTo(inMemory);
            assertThat(loaded.folded).isEmpty();
            assertThat(engine.counters().duplicates()).isZero();
            assertThat(bus.decided(true)).hasSize(100).doesNotHaveDuplicates();
        }
    }

    @Test
    void stateRecordCarriesWhatItContains() {
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var engine = bus.start("s-0", fold)) {
            pen.send(pen.announced());
            pen.send(pen.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().folded() == 2);

            var newest = bus.read(Topic.HEALTH_STATE, true).stream()
                    .map(bus::event)
                    .filter(event -> event.envelope().type() == EventType.HEALTH_CHANGED)
                    .map(event -> ((NodeHealth) event.payload()).getApplied())
                    .toList()
                    .getLast();
            assertThat(newest.getBootIdsList()).containsExactly("b1");
            assertThat(newest.getMarksList())
                    .extracting(mark -> mark.getTopic() + " " + mark.getSource() + " " + mark.getSequence())
                    .containsExactlyInAnyOrder("inventory /clusters/c1/nodes/n1 1", "health /clusters/c1/nodes/n1 1");
        }
    }

    @Test
    void newMachineUnderAnOldNameIsAcceptedThoughItsEpochIsLower() {
        try (var old = new NodePen(bus, "n1", 2_000_000, "boot-old");
                var fresh = new NodePen(bus, "n1", 1_000_000, "boot-new");
                var engine = bus.start("s-0", fold)) {
            // Given
            old.send(old.announced());
            var late = old.send(old.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().folded() == 2);

            // When
            fresh.send(fresh.fault("GPU-2", 31, ""));
            fresh.send(fresh.announced());
            fresh.send(fresh.fault("GPU-3", 31, ""));
            await().until(() -> engine.counters().folded() == 5);
            old.send(late);
            await().until(() -> engine.counters().duplicates() == 1);

            // Then
            assertThat(engine.counters().newMachines()).isEqualTo(1);
            assertThat(engine.counters().missed()).isZero();
            assertThat(fold.folded.stream().filter(Inbound::newMachine)).hasSize(1);
            assertThat(fold.of("n1").getReason()).isEqualTo("new machine");
        }
    }

    @Test
    void ageDoesNotAskTheClockOfTheNode() {
        try (var ahead = new NodePen(bus, "n1", 1000, "b1").withClockOff(Duration.ofHours(2));
                var behind = new NodePen(bus, "n2", 1000, "b1").withClockOff(Duration.ofHours(-2));
                var engine = bus.start("s-0", fold)) {
            // When
            ahead.send(ahead.announced());
            behind.send(behind.next(
                    Topic.HEALTH,
                    EventType.FAULT_OBSERVED,
                    EventType.FAULT_OBSERVED.prototype(),
                    Duration.ofMinutes(11).toMillis()));
            await().until(() -> engine.counters().folded() == 2);

            // Then
            Instant now = Instant.now();
            Map<String, Duration> ages =
                    fold.folded.stream().collect(Collectors.toMap(Inbound::key, event -> event.age(now)));
            assertThat(ages.get("n1")).isBetween(Duration.ZERO, Duration.ofMinutes(5));
            assertThat(ages.get("n2")).isBetween(Duration.ofMinutes(11), Duration.ofMinutes(16));
            assertThat(fold.folded)
                    .filteredOn(event -> event.key().equals("n1"))
                    .allSatisfy(event -> assertThat(event.envelope().time()).isAfter(now.plusSeconds(3600)));
        }
    }

    @Test
    void holesAreCountedOnceAlsoWhenTheWriterTellsThem() {
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var engine = bus.start("s-0", fold)) {
            pen.send(pen.fault("GPU-1", 79, ""));
            pen.send(pen.lost(2, 6));
            await().until(() -> engine.counters().folded() == 2);

            assertThat(engine.counters().missed()).isEqualTo(5);
        }
    }

    @Test
    void heartbeatIsHeardUndecoded() {
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var engine = bus.start("s-0", fold)) {
            pen.send(pen.next(Topic.TELEMETRY, EventType.TELEMETRY_SAMPLED, TelemetrySampled.getDefaultInstance(), 0));

            await().until(() -> fold.heard.contains("n1"));
            assertThat(engine.counters().folded()).isZero();
        }
    }

    @Test
    void effectCarriesTheTraceAndTheRoleStandsOnTheLog() {
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var engine = bus.start("s-0", fold)) {
            pen.send(pen.announced());
            await().until(() -> engine.counters().folded() == 1);
            var decision = bus.event(bus.read(Topic.DECISIONS, true).getFirst());
            assertThat(decision.envelope().source()).hasToString("/clusters/c1/services/s-0");
            assertThat(((DecisionTaken) decision.payload()).getEvidenceList())
                    .isEqualTo(List.of("n1/1000/inventory/1"));
        }
        assertThat(bus.read(Topic.HEALTH_STATE, true))
                .extracting(rec -> new String(rec.key(), java.nio.charset.StandardCharsets.UTF_8))
                .contains("@active", "@positions");
    }

    static Map<String, String> canonical(CountingFold fold) {
        var bytes = new TreeMap<String, String>();
        fold.state.forEach((key, state) ->
                bytes.put(key, new String(Codec.toJson(state), java.nio.charset.StandardCharsets.UTF_8)));
        return bytes;
    }
}
