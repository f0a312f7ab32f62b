package io.gpufleet.bench.projection;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A projection with a state of the usual size: every event changes it, one in ten causes a decision. */
final class MeasuredProjection implements Projection<NodeHealthState>, StateListener<NodeHealthState> {
    private final long events;
    private final CountDownLatch done = new CountDownLatch(1);
    /** Events in the committed state of each node. */
    private final Map<String, Long> committed = new HashMap<>();

    private volatile long first;
    private volatile long last;
    private long total;

    MeasuredProjection(long events) {
        this.events = events;
    }

    /** Waits until every event is folded and committed; returns the seconds from the first to the last. */
    Optional<Double> seconds(Duration atMost) throws InterruptedException {
        return done.await(atMost.toSeconds(), TimeUnit.SECONDS) ? Optional.of((last - first) / 1e9) : Optional.empty();
    }

    @Override
    public ProjectionSpec spec() {
        return new ProjectionSpec(
                Topic.HEALTH_STATE,
                EventType.HEALTH_CHANGED,
                1,
                Set.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION),
                Set.of(),
                Set.of(Topic.DECISIONS));
    }

    @Override
    public NodeHealthState read(String node, Message state) {
        return (NodeHealthState) state;
    }

    @Override
    public Message write(String node, NodeHealthState state) {
        return state;
    }

    @Override
    public Effects<NodeHealthState> on(States<NodeHealthState> states, Inbound input, Instant now) {
        if (!(input instanceof Inbound.Event event)) {
            return Effects.none();
        }
        last = System.nanoTime();
        first = first == 0 ? last : first;
        NodeHealthState before = states.get(event.key()).orElse(NodeHealthState.getDefaultInstance());
        NodeHealthState after = before.toBuilder()
                .setBootId(EventMix.BOOT)
                .setVerdictRevision(before.getVerdictRevision() + 1)
                .build();
        return Effects.state(
                event.key(), after, after.getVerdictRevision() % 10 == 0 ? List.of(decision(event, now)) : List.of());
    }

    private static Outbound decision(Inbound.Event event, Instant now) {
        var decision = DecisionTaken.newBuilder()
                .addEvidence(event.eventId())
                .setRule("nvidia/xid-31")
                .build();
        return Outbound.Event.of(Topic.DECISIONS, EventType.DECISION_TAKEN, event.key(), decision, now)
                .causedBy(event);
    }

    @Override
    public void cleared() {
        committed.clear();
        total = 0;
    }

    @Override
    public void committed(Map<String, NodeHealthState> states, Set<String> forgotten) {
        states.forEach((node, state) -> {
            Long before = committed.put(node, state.getVerdictRevision());
            total += state.getVerdictRevision() - (before == null ? 0 : before);
        });
        if (total == events) {
            done.countDown();
        }
    }
}
