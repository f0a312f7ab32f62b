package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeState;
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

/** Projection of the input topics onto node states: what {@link HealthMachine} decides, as states and records. */
public final class HealthProjection implements Projection<NodeState> {
    private static final ProjectionSpec SPEC = new ProjectionSpec(
            Topic.HEALTH_STATE,
            EventType.HEALTH_CHANGED,
            1,
            Set.of(Topic.HEALTH, Topic.SIGNALS, Topic.INVENTORY),
            Set.of(),
            Set.of(Topic.VERDICTS, Topic.DECISIONS));

    private final HealthMachine machine;

    /** Projection by the decisions of a machine. */
    public HealthProjection(HealthMachine machine) {
        this.machine = machine;
    }

    @Override
    public ProjectionSpec spec() {
        return SPEC;
    }

    @Override
    public NodeState read(String node, Message state) {
        return StateMapper.toModel(node, (NodeHealthState) state);
    }

    @Override
    public Message write(String node, NodeState state) {
        return StateMapper.toWire(state);
    }

    @Override
    public Effects<NodeState> on(States<NodeState> states, Inbound input, Instant now) {
        return switch (input) {
            case Inbound.Event event ->
                SignalMapper.toModel(event, now)
                        .map(signal -> effects(decide(states, event.key(), signal, now), now, event))
                        .orElse(Effects.none());
            case Inbound.Tombstone _, Inbound.Heartbeat _ -> Effects.none();
        };
    }

    @Override
    public List<Inbound.Event> samples(Instant now) {
        return SampleEvents.of(now);
    }

    @Override
    public Instant wakeAt(NodeState state) {
        return machine.changesAt(state);
    }

    @Override
    public Effects<NodeState> tick(String node, States<NodeState> states, Instant now) {
        boolean forgettable = states.get(node)
                .flatMap(NodeState::forgettableAt)
                .filter(at -> !at.isAfter(now))
                .isPresent();
        if (forgettable) {
            return Effects.forget(node, List.of(new Outbound.Tombstone(Topic.VERDICTS, node)));
        }
        DecisionResult result = decide(states, node, HealthSignal.TimePassed.at(now), now);
        return effects(result, OutboundMapper.toWire(result, now));
    }

    private DecisionResult decide(States<NodeState> states, String node, HealthSignal signal, Instant now) {
        NodeState before = states.get(node)
                .orElseGet(() -> NodeState.unknown(node, signal.metadata().at()));
        return machine.decide(before, signal, now);
    }

    private static Effects<NodeState> effects(DecisionResult result, Instant now, Inbound cause) {
        return effects(
                result,
                OutboundMapper.toWire(result, now).stream()
                        .map(output -> output.causedBy(cause))
                        .toList());
    }

    private static Effects<NodeState> effects(DecisionResult result, List<Outbound.Event> outputs) {
        return result.events().isEmpty()
                ? Effects.publish(outputs)
                : Effects.state(result.state().node().name(), result.state(), outputs);
    }
}
