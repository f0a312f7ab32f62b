package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Outcome;
import io.gpufleet.health.model.Decision.StateTransition;
import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.DecisionResult.Effect;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.CommandIssued;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.maintenance.Maintenance;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Decides commands about the whole fleet: reset of its storm brake, freeze. The fleet has a state of its own, under a key
 * that no node can have.
 */
public final class FleetCommandDecider {
    /** Key of the fleet; the slash is not allowed in the name of a node. */
    public static final String FLEET = "/fleet";

    private static final String TARGET = "storm brake";

    private FleetCommandDecider() {}

    /** True for a command about the fleet. */
    public static boolean concernsFleet(Command command) {
        return switch (command) {
            case RESET_BRAKE, FREEZE, UNFREEZE -> true;
            case QUARANTINE, RELEASE, RETIRE, CLEAR, FORGET, BEGIN_MAINTENANCE, END_MAINTENANCE -> false;
        };
    }

    /**
     * Decision and state, which holds who opened the brake and who froze the fleet, why and when. The brake is opened now,
     * whenever the command was given: what was tainted up to now does not count.
     */
    public static DecisionResult decide(Optional<NodeState> fleet, CommandIssued command, String budget, Instant now) {
        Instant at = command.metadata().at();
        String by = command.user() + ": " + command.reason();
        NodeStateChange event = switch (command.command()) {
            case FREEZE -> new NodeStateChange.MaintenanceChanged(new Maintenance(at, by));
            case UNFREEZE -> new NodeStateChange.MaintenanceChanged(null);
            case RESET_BRAKE, QUARANTINE, RELEASE, RETIRE, CLEAR, FORGET, BEGIN_MAINTENANCE, END_MAINTENANCE ->
                new NodeStateChange.OverrideChanged(new ManualOverride(now, by, TARGET));
        };
        String action = switch (command.command()) {
            case FREEZE -> "freeze";
            case UNFREEZE -> "end freeze";
            case RESET_BRAKE, QUARANTINE, RELEASE, RETIRE, CLEAR, FORGET, BEGIN_MAINTENANCE, END_MAINTENANCE ->
                "open storm brake";
        };
        var decision = new Decision(
                "",
                List.of(command.metadata().eventId()),
                "operator",
                new StateTransition(HealthState.HEALTHY, HealthState.HEALTHY),
                action,
                new Outcome(Status.ACTED, by, budget),
                List.of(),
                0);
        return new DecisionResult(
                List.of(event),
                List.of(new Effect.RecordDecision(decision)),
                StateReducer.apply(fleet.orElseGet(() -> NodeState.unknown(FLEET, at)), event));
    }

    /** Reason that holds everything back while an operator froze the fleet; empty while none did. */
    public static Optional<String> freeze(Optional<NodeState> fleet) {
        return fleet.flatMap(state -> Optional.ofNullable(state.manual().maintenance()))
                .map(frozen -> "frozen by " + frozen.note());
    }

    /** Why the command would change nothing, one line; empty when it would change something. */
    public static Optional<String> conflict(Optional<NodeState> fleet, Command command) {
        boolean frozen = freeze(fleet).isPresent();
        if (command == Command.FREEZE && frozen) {
            return Optional.of("the fleet is frozen already");
        }
        return command == Command.UNFREEZE && !frozen ? Optional.of("the fleet is not frozen") : Optional.empty();
    }

    /** The state once the time of the brake's record is over: what is left of it, empty when nothing is. */
    public static Optional<NodeState> withoutBrake(NodeState fleet) {
        return fleet.manual().maintenance() == null
                ? Optional.empty()
                : Optional.of(StateReducer.apply(fleet, new NodeStateChange.OverrideChanged(null)));
    }

    /** Operator who opened the brake last, within the time for which that is remembered. */
    public static Optional<ManualOverride> newest(Optional<NodeState> fleet) {
        return fleet.flatMap(state -> Optional.ofNullable(state.override()));
    }
}
