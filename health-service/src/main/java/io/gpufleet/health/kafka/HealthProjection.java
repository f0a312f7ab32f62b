package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.app.Reconciler;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.projection.Inbound;
import io.gpufleet.wire.projection.Outbound;
import io.gpufleet.wire.projection.Projection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Projection of the input topics onto node states; passes a verdict to the reconciler once it is committed. */
public final class HealthProjection implements Projection {
    private final NodeStateStore store;
    private final Reconciler reconciler;
    private final List<NodeState> uncommitted = new ArrayList<>();

    /** Projection into the store. */
    public HealthProjection(NodeStateStore store, Reconciler reconciler) {
        this.store = store;
        this.reconciler = reconciler;
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
        return Set.of(Topic.HEALTH, Topic.SIGNALS, Topic.INVENTORY);
    }

    @Override
    public void clear() {
        store.clear();
        reconciler.clear();
        uncommitted.clear();
    }

    @Override
    public void restore(String key, Message state) {
        NodeState restored = StateMapper.toModel(key, (NodeHealthState) state);
        store.restore(restored);
        reconciler.verdictCommitted(Verdict.of(restored));
    }

    @Override
    public void forget(String key) {
        store.forget(key);
        reconciler.forget(key);
    }

    @Override
    public List<Outbound> fold(Inbound event, Instant now) {
        return SignalMapper.toModel(event, now)
                .map(signal -> toOutbound(store.handle(event.key(), signal, now), now).stream()
                        .<Outbound>map(output -> output.causedBy(event))
                        .toList())
                .orElse(List.of());
    }

    @Override
    public List<Outbound> tick(Instant now) {
        return store.tick(now).stream()
                .flatMap(result -> toOutbound(result, now).stream())
                .map(Outbound.class::cast)
                .toList();
    }

    private List<Outbound.Event> toOutbound(DecisionResult result, Instant now) {
        if (!result.events().isEmpty()) {
            uncommitted.add(result.state());
        }
        return OutboundMapper.toWire(result, now);
    }

    @Override
    public void committed(List<Outbound> outputs) {
        uncommitted.forEach(state -> reconciler.verdictCommitted(Verdict.of(state)));
        uncommitted.clear();
    }

    @Override
    public void activated(Instant now) {
        reconciler.activate();
    }

    @Override
    public void deactivated() {
        reconciler.deactivate();
    }
}
