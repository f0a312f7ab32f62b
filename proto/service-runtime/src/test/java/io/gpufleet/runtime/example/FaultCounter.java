package io.gpufleet.runtime.example;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** Counts the faults of each node, and decides once it has seen three. */
final class FaultCounter implements Projection<FaultCounter.Count> {
    record Count(long faults) {}

    @Override
    public ProjectionSpec spec() {
        return new ProjectionSpec(
                Topic.HEALTH_STATE,
                EventType.HEALTH_CHANGED,
                1,
                Set.of(Topic.HEALTH),
                Set.of(),
                Set.of(Topic.DECISIONS));
    }

    @Override
    public Count read(String node, Message state) {
        return new Count(((NodeHealthState) state).getVerdictRevision());
    }

    @Override
    public Message write(String node, Count count) {
        return NodeHealthState.newBuilder().setVerdictRevision(count.faults()).build();
    }

    @Override
    public Effects<Count> on(States<Count> states, Inbound input, Instant now) {
        if (!(input instanceof Inbound.Event event) || !(event.payload() instanceof FaultObserved)) {
            return Effects.none();
        }
        String node = event.key();
        var next = new Count(states.get(node).orElse(new Count(0)).faults() + 1);
        if (next.faults() != 3) {
            return Effects.state(node, next, List.of());
        }
        var decision = DecisionTaken.newBuilder()
                .addEvidence(event.eventId())
                .setReason("third fault")
                .build();
        var output = Outbound.Event.of(Topic.DECISIONS, EventType.DECISION_TAKEN, node, decision, now);
        return Effects.state(node, next, List.of(output.causedBy(event)));
    }
}
