package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.telemetry.v1.TelemetrySampled;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One replica and what the log does to it. */
@NullMarked
class ProjectionEngineIT {
    private final TestBus bus = TestBus.withNewPrefix();
    private final CountingProjection projection = new CountingProjection();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(40));
    }

    @Test
    void duplicatesAreFoldedOnceAndCounted() {
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // Given
            var first = pen.send(pen.fault("GPU-1", 79, ""));
            pen.send(pen.fault("GPU-2", 31, ""));

            // When
            pen.send(first);
            pen.send(pen.announced());

            // Then
            await().until(() ->
                    engine.counters().get("events") == 3 && engine.counters().get("duplicates") == 1);
            assertThat(bus.decisionEvidence(true))
                    .containsExactly("n1/1000/health/1", "n1/1000/health/2", "n1/1000/inventory/1");
            assertThat(engine.role()).isEqualTo(ReplicaRole.ACTIVE);
            assertThat(engine.readinessFailures()).isEmpty();
            assertThat(engine.activeAddress()).isEqualTo("health-service-0:9090");
            assertThat(projection.acted).contains("n1");
        }
        assertThat(projection.lifecycle).containsExactly("activated", "deactivated");
    }

    @Test
    void traceOfAFactIsCarriedToItsOutputsAndTheState() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
            var fault = node.fault("GPU-1", 79, "");
            fault.headers().add("ce_traceparent", trace.getBytes(UTF_8));
            node.send(fault);
            await().until(() -> engine.counters().get("events") == 1);

            // Then
            assertThat(bus.read(Topic.DECISIONS, true))
                    .singleElement()
                    .satisfies(rec ->
                            assertThat(bus.event(rec).envelope().traceparent()).isEqualTo(trace));
            assertThat(bus.read(Topic.HEALTH_STATE, true))
                    .filteredOn(rec -> new String(rec.key(), UTF_8).equals("n1"))
                    .singleElement()
                    .satisfies(rec ->
                            assertThat(bus.event(rec).envelope().traceparent()).isEqualTo(trace));
        }
    }

    @Test
    void everyHopOfACommittedEventIsReportedOnce() {
        List<String> hops = new CopyOnWriteArrayList<>();
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // Given
            engine.timings((topic, hop, time) -> hops.add(topic + " " + hop + (time.isNegative() ? " below 0" : "")));

            // When
            var fault = node.send(node.fault("GPU-1", 79, ""));
            node.send(fault);
            await().until(() -> engine.counters().get("duplicates") == 1);

            // Then
            assertThat(hops)
                    .containsExactly(
                            "HEALTH NOTICED_TO_APPENDED", "HEALTH APPENDED_TO_FOLDED", "HEALTH FOLDED_TO_COMMITTED");
        }
    }

    @Test
    void orderBetweenTopicsDoesNotMatter() {
        try (var one = new NodeEventProducer(bus, "n1", 1000, "b1");
                var other = new NodeEventProducer(bus, "n2", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When the same facts of two nodes arrive in opposite order of the topics
            one.send(one.announced());
            one.send(one.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().get("events") == 2);
            other.send(other.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().get("events") == 3);
            other.send(other.announced());
            await().until(() -> engine.counters().get("events") == 4);

            // Then
            assertThat(engine.states().get("n2")).isEqualTo(engine.states().get("n1"));
        }
    }

    @Test
    void stateLoadedEqualsTheStateInMemoryAndNothingIsDecidedAgain() {
        Map<String, String> inMemory;
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var second = new NodeEventProducer(bus, "n2", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // Given
            for (int i = 0; i < 50; i++) {
                pen.send(pen.fault("GPU-" + i % 8, 13 + i, ""));
                second.send(second.announced());
            }
            await().until(() -> engine.counters().get("events") == 100);
            inMemory = canonical(engine);
        }
        var loaded = new CountingProjection();
        try (var engine = bus.start("health-service-0", loaded)) {
            // When
            await().until(() -> engine.role() == ReplicaRole.ACTIVE);

            // Then
            assertThat(canonical(engine)).isEqualTo(inMemory);
            assertThat(loaded.applied).isEmpty();
            assertThat(engine.counters().get("duplicates")).isZero();
            assertThat(bus.decisionEvidence(true)).hasSize(100).doesNotHaveDuplicates();
        }
    }

    @Test
    void standbyHasFoldedItsSamplesBeforeAnyInput() {
        var sampled = new FoldWarmUpTest.SampledProjection();
        try (var leader = bus.start("health-service-0", projection)) {
            await().until(leader::active);

            try (var standby = bus.start("health-service-1", sampled)) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);

                assertThat(sampled.applied)
                        .isNotEmpty()
                        .allMatch(event -> event.key().equals("sample"));
                assertThat(standby.states().size()).isZero();
            }
        }
    }

    @Test
    void stateRecordCarriesItsAppliedSequences() {
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            pen.send(pen.announced());
            pen.send(pen.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().get("events") == 2);

            var newest = bus.read(Topic.HEALTH_STATE, true).stream()
                    .map(bus::event)
                    .filter(event -> event.envelope().type() == EventType.HEALTH_CHANGED)
                    .map(event -> ((NodeHealthState) event.payload()).getApplied())
                    .toList()
                    .getLast();
            assertThat(newest.getBootIdsList()).containsExactly("b1");
            assertThat(newest.getSequencesList())
                    .extracting(
                            sequence -> sequence.getTopic() + " " + sequence.getSource() + " " + sequence.getSequence())
                    .containsExactlyInAnyOrder("inventory /clusters/c1/nodes/n1 1", "health /clusters/c1/nodes/n1 1");
        }
    }

    @Test
    void newMachineUnderAnOldNameIsAcceptedThoughItsEpochIsLower() {
        try (var old = new NodeEventProducer(bus, "n1", 2_000_000, "boot-old");
                var fresh = new NodeEventProducer(bus, "n1", 1_000_000, "boot-new");
                var engine = bus.start("health-service-0", projection)) {
            // Given
            old.send(old.announced());
            var late = old.send(old.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().get("events") == 2);

            // When
            fresh.send(fresh.fault("GPU-2", 31, ""));
            fresh.send(fresh.announced());
            fresh.send(fresh.fault("GPU-3", 31, ""));
            await().until(() -> engine.counters().get("events") == 5);
            old.send(late);
            await().until(() -> engine.counters().get("duplicates") == 1);

            // Then
            assertThat(engine.counters().get("new_machines")).isEqualTo(1);
            assertThat(engine.counters().get("missed")).isZero();
            assertThat(projection.applied.stream().filter(Inbound.Event::newMachine))
                    .hasSize(1);
            assertThat(engine.states().get("n1").orElseThrow().getReason()).isEqualTo("new machine");
        }
    }

    @Test
    void ageDoesNotUseTheClockOfTheNode() {
        try (var ahead = new NodeEventProducer(bus, "n1", 1000, "b1").withClockOffset(Duration.ofHours(2));
                var behind = new NodeEventProducer(bus, "n2", 1000, "b1").withClockOffset(Duration.ofHours(-2));
                var engine = bus.start("health-service-0", projection)) {
            // When
            ahead.send(ahead.announced());
            behind.send(behind.next(
                    Topic.HEALTH,
                    EventType.FAULT_OBSERVED,
                    EventType.FAULT_OBSERVED.prototype(),
                    Duration.ofMinutes(11).toMillis()));
            await().until(() -> engine.counters().get("events") == 2);

            // Then
            Instant now = Instant.now();
            Map<String, Duration> ages =
                    projection.applied.stream().collect(Collectors.toMap(Inbound.Event::key, event -> event.age(now)));
            assertThat(ages.get("n1")).isBetween(Duration.ZERO, Duration.ofMinutes(5));
            assertThat(ages.get("n2")).isBetween(Duration.ofMinutes(11), Duration.ofMinutes(16));
            assertThat(projection.applied)
                    .filteredOn(event -> event.key().equals("n1"))
                    .allSatisfy(event -> assertThat(event.envelope().time()).isAfter(now.plusSeconds(3600)));
        }
    }

    @Test
    void gapsAreCountedOnceAlsoWhenTheWriterReportsThem() {
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            pen.send(pen.fault("GPU-1", 79, ""));
            pen.send(pen.lost(2, 6));
            await().until(() -> engine.counters().get("events") == 2);

            assertThat(engine.counters().get("missed")).isEqualTo(5);
        }
    }

    @Test
    void heartbeatIsReadWithoutDecoding() {
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            pen.send(pen.next(Topic.TELEMETRY, EventType.TELEMETRY_SAMPLED, TelemetrySampled.getDefaultInstance(), 0));

            await().until(() -> projection.heartbeats.contains("n1"));
            assertThat(engine.counters().get("events")).isZero();
        }
    }

    @Test
    void outputCarriesItsCauseAndEngineRecordsAreOnTheChangelog() {
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            pen.send(pen.announced());
            await().until(() -> engine.counters().get("events") == 1);
            var decision = bus.event(bus.read(Topic.DECISIONS, true).getFirst());
            assertThat(decision.envelope().source()).hasToString("/clusters/c1/services/health-service-0");
            assertThat(((DecisionTaken) decision.payload()).getEvidenceList())
                    .isEqualTo(List.of("n1/1000/inventory/1"));
        }
        assertThat(bus.read(Topic.HEALTH_STATE, true))
                .extracting(rec -> new String(rec.key(), UTF_8))
                .contains("@active", "@offsets");
    }

    static Map<String, String> canonical(ProjectionEngine<NodeHealthState> engine) {
        var bytes = new TreeMap<String, String>();
        engine.states().forEach((key, state) -> bytes.put(key, new String(Codec.toJson(state), UTF_8)));
        return bytes;
    }
}
