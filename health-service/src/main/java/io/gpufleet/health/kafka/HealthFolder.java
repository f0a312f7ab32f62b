package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.app.HealthCore;
import io.gpufleet.health.app.Reconciler;
import io.gpufleet.health.model.Conclusion;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.proto.health.v1.NodeHealth;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.fold.Folder;
import io.gpufleet.wire.fold.Inbound;
import io.gpufleet.wire.fold.Outbound;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What the health-service makes of its topics; hands a verdict to the reconciler once it is committed, not before. */
public final class HealthFolder implements Folder {
    private final HealthCore core;
    private final Reconciler reconciler;
    private final List<NodeState> uncommitted = new ArrayList<>();

    /** A folder into the core. */
    public HealthFolder(HealthCore core, Reconciler reconciler) {
        this.core = core;
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
        core.clear();
        reconciler.clear();
        uncommitted.clear();
    }

    @Override
    public void restore(String key, Message state) {
        NodeState restored = StateMapper.toModel(key, (NodeHealth) state);
        core.restore(restored);
        reconciler.verdict(Verdict.of(restored));
    }

    @Override
    public void forget(String key) {
        core.forget(key);
        reconciler.forget(key);
    }

    @Override
    public List<Outbound> fold(Inbound event, Instant now) {
        return SignalMapper.toModel(event, now)
                .map(signal -> write(core.handle(event.key(), signal, now), now).stream()
                        .<Outbound>map(output -> output.causedBy(event))
                        .toList())
                .orElse(List.of());
    }

    @Override
    public List<Outbound> tick(Instant now) {
        return core.tick(now).stream()
                .flatMap(conclusion -> write(conclusion, now).stream())
                .map(Outbound.class::cast)
                .toList();
    }

    private List<Outbound.Event> write(Conclusion conclusion, Instant now) {
        if (!conclusion.events().isEmpty()) {
            uncommitted.add(conclusion.state());
        }
        return OutboundMapper.toWire(conclusion, now);
    }

    @Override
    public void committed(List<Outbound> outputs) {
        uncommitted.forEach(state -> reconciler.verdict(Verdict.of(state)));
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
