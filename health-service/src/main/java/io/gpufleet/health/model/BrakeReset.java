package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Outcome;
import io.gpufleet.health.model.Decision.StateTransition;
import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.DecisionResult.Effect;
import io.gpufleet.health.model.HealthSignal.CommandIssued;
import io.gpufleet.health.model.device.HealthState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The storm brake opened by an operator: a state of its own, under a key that no node can have. */
public final class BrakeReset {
    /** Key of the fleet; the slash is not allowed in the name of a node. */
    public static final String FLEET = "/fleet";

    private static final String TARGET = "storm brake";

    private BrakeReset() {}

    /** Opens the brake: decision and state, which holds who opened it, why and when. */
    public static DecisionResult decide(CommandIssued command, String budget) {
        Instant at = command.metadata().at();
        String by = command.user() + ": " + command.reason();
        var event = new HealthEvent.OverrideChanged(new ManualOverride(at, by, TARGET));
        var decision = new Decision(
                "",
                List.of(command.metadata().eventId()),
                "operator",
                new StateTransition(HealthState.HEALTHY, HealthState.HEALTHY),
                "open storm brake",
                new Outcome(Status.ACTED, by, budget),
                List.of(),
                0);
        return new DecisionResult(
                List.of(event),
                List.of(new Effect.RecordDecision(decision)),
                StateReducer.apply(NodeState.unknown(FLEET, at), event));
    }

    /** Who opened the brake last, within the time for which that is remembered. */
    public static Optional<ManualOverride> newest(Optional<NodeState> fleet) {
        return fleet.flatMap(state -> Optional.ofNullable(state.override()));
    }
}
