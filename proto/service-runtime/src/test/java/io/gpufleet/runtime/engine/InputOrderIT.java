package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A backlog of ten hours: thousands of holdings of a node, and a fault every ten minutes. The topics keep the times at which the
 * test says that the records were appended.
 */
@NullMarked
class InputOrderIT {
    private static final int HOLDINGS = 6_000;
    private static final int FAULTS = 60;
    private static final Duration SPAN = Duration.ofHours(10);
    private static final Duration DISTANCE = Duration.ofSeconds(1);
    private static final Duration WAIT = Duration.ofSeconds(60);

    private final TestBus bus = TestBus.withTimesOfProducers();
    private final CountingProjection projection = new CountingProjection();
    private final NodeEventProducer node = new NodeEventProducer(bus, "n1", 1000, "b1");
    private final Instant begin = Instant.now().minus(SPAN);
    private final Map<String, Instant> appendedAt = new HashMap<>();

    @AfterEach
    void close() {
        node.close();
    }

    @Test
    void topicsOfABacklogAreAppliedInTheOrderOfTheirAppendTimesAcrossAKill() throws Exception {
        // Given, in the middle, a fault at which the first replica stops inside its transaction
        appendBacklog();
        try (var first = ReplicaMain.start(bus, "health-service-0")) {
            await().atMost(WAIT).until(() -> first.output().contains("IN TRANSACTION"));
            assertThat(committed()).isNotEmpty().hasSizeLessThan(HOLDINGS);
            first.signal("KILL");
        }

        // When
        try (var second = bus.start("health-service-1", projection)) {
            awaitEvents(second, HOLDINGS + FAULTS);

            // Then each is applied once, and none is more than the tolerated time ahead of another
            List<Instant> times = committed();
            assertThat(times).hasSize(HOLDINGS + FAULTS);
            assertThat(mostAhead(times)).isLessThanOrEqualTo(DISTANCE);

            // And after the backlog an event waits for nobody
            node.send(node.fault("GPU-new", 79, ""));
            awaitEvents(second, HOLDINGS + FAULTS + 1);
        }
    }

    private void appendBacklog() {
        for (int i = 0; i < HOLDINGS; i++) {
            append(Topic.ALLOCATION, i, HOLDINGS);
            if (i % (HOLDINGS / FAULTS) == HOLDINGS / FAULTS / 2) {
                append(Topic.HEALTH, i, HOLDINGS);
            }
        }
        node.flush();
    }

    private void append(Topic topic, int i, int of) {
        Instant at = begin.plus(SPAN.multipliedBy(i).dividedBy(of));
        var rec = topic == Topic.ALLOCATION
                ? node.next(
                        topic,
                        EventType.DEVICES_HELD,
                        DevicesHeld.newBuilder().setBootId("b1").build(),
                        0)
                : node.fault(i > of / 2 && i < of / 2 + of / FAULTS ? ReplicaMain.HANG : "GPU-" + i, 79, "");
        appendedAt.put(NodeEventProducer.idOf(rec), at);
        node.append(rec, at);
    }

    /** Append times of the events whose decisions are committed, in the order of the decisions. */
    private List<Instant> committed() {
        return bus.read(Topic.DECISIONS, true).stream()
                .map(rec -> ((DecisionTaken) bus.event(rec).payload()).getEvidence(0))
                .flatMap(id -> Stream.ofNullable(appendedAt.get(id)))
                .toList();
    }

    /** Longest time by which one was applied before an older one. */
    private static Duration mostAhead(List<Instant> times) {
        List<Duration> ahead = new ArrayList<>(List.of(Duration.ZERO));
        Instant newest = Instant.MIN;
        for (Instant time : times) {
            if (time.isAfter(newest)) {
                newest = time;
            }
            ahead.add(Duration.between(time, newest));
        }
        return ahead.stream().max(Duration::compareTo).orElseThrow();
    }

    private static void awaitEvents(ProjectionEngine<NodeHealthState> engine, long events) {
        await().atMost(WAIT)
                .until(() -> engine.states()
                        .get("n1")
                        .filter(state -> state.getVerdictRevision() == events)
                        .isPresent());
    }
}
