package io.gpufleet.bench.projection;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.projection.Inbound;
import io.gpufleet.wire.projection.Outbound;
import io.gpufleet.wire.projection.Projection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A projection with a state of the usual size: every event changes it, one in ten causes a decision. */
final class MeasuredProjection implements Projection {
    private final Map<String, NodeHealthState> state = new HashMap<>();
    private final CountDownLatch committed;
    private volatile long first;
    private volatile long last;
    private long folded;

    MeasuredProjection(int events) {
        committed = new CountDownLatch(events);
    }

    /** Waits until every event is folded and committed; returns the seconds from the first to the last. */
    Optional<Double> seconds(Duration atMost) throws InterruptedException {
        return committed.await(atMost.toSeconds(), TimeUnit.SECONDS)
                ? Optional.of((last - first) / 1e9)
                : Optional.empty();
    }

    @Override
    public Topic changelog() {
        return Topic.HEALTH_STATE;
    }

    @Override
    public EventType changelogType() {
        return EventType.HEALTH_CHANGED;
    }

    @Override
    public Set<Topic> inputs() {
        return Set.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION);
    }

    @Override
    public void clear() {
        state.clear();
    }

    @Override
    public void restore(String key, Message restored) {
        state.put(key, (NodeHealthState) restored);
    }

    @Override
    public void forget(String key) {
        state.remove(key);
    }

    @Override
    public List<Outbound> fold(Inbound event, Instant now) {
        last = System.nanoTime();
        first = first == 0 ? last : first;
        NodeHealthState before = state.getOrDefault(event.key(), NodeHealthState.getDefaultInstance());
        NodeHealthState after = before.toBuilder()
                .setBootId(EventMix.BOOT)
                .setVerdictRevision(before.getVerdictRevision() + 1)
                .build();
        state.put(event.key(), after);
        List<Outbound> outputs = new ArrayList<>(2);
        outputs.add(Outbound.Event.of(Topic.HEALTH_STATE, EventType.HEALTH_CHANGED, event.key(), after, now));
        if (folded++ % 10 == 0) {
            var decision = DecisionTaken.newBuilder()
                    .addEvidence(event.eventId())
                    .setRule("nvidia/xid-31")
                    .build();
            outputs.add(Outbound.Event.of(Topic.DECISIONS, EventType.DECISION_TAKEN, event.key(), decision, now));
        }
        return outputs;
    }

    @Override
    public void committed(List<Outbound> outputs) {
        outputs.stream().filter(output -> output.topic() == Topic.HEALTH_STATE).forEach(_ -> committed.countDown());
    }
}
