package io.gpufleet.bench.projection;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** Counts the events of each node, and nothing else: inputs and changelog are those of the health-service. */
final class FloorProjection implements Projection<FloorProjection.Count> {
    /** State of a node. */
    record Count(long events) {}

    private static final ProjectionSpec SPEC = new ProjectionSpec(
            Topic.HEALTH_STATE,
            EventType.HEALTH_CHANGED,
            1,
            Set.of(Topic.HEALTH, Topic.SIGNALS, Topic.INVENTORY, Topic.ALLOCATION),
            Set.of(Topic.TELEMETRY),
            Set.of());

    @Override
    public ProjectionSpec spec() {
        return SPEC;
    }

    @Override
    public Count read(String node, Message state) {
        return new Count(((NodeHealthState) state).getVerdictRevision());
    }

    @Override
    public Message write(String node, Count count) {
        return NodeHealthState.newBuilder().setVerdictRevision(count.events()).build();
    }

    @Override
    public Effects<Count> on(States<Count> states, Inbound input, Instant now) {
        return switch (input) {
            case Inbound.Event event -> {
                long before = states.get(event.key()).map(Count::events).orElse(0L);
                yield Effects.state(event.key(), new Count(before + 1), List.of());
            }
            case Inbound.Tombstone _, Inbound.Heartbeat _ -> Effects.none();
        };
    }
}
