package io.gpufleet.health.kafka;

import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.ManualOverride;
import io.gpufleet.health.model.NodeBudgetShareCalculator;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.FleetUsage;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.NodeBudgetShare;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.move.DeviceLocations;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.health.model.presence.SilenceDetector;
import io.gpufleet.runtime.projection.States;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Index over the states of all nodes: budgets in use, places of devices, silent nodes, and which are to be decided about
 * without an event. Made anew when a term begins; what a batch changed goes with it where that batch is undone.
 */
final class FleetIndex {
    private final FleetUsage usage;
    private final DeviceLocations locations = new DeviceLocations();
    private final SilenceDetector silence = new SilenceDetector();
    private final NodesToDecide toDecide = new NodesToDecide();
    /** Budgets of the last decision. */
    private DisruptionBudgets protection;
    /** Reason that holds everything back while the fleet is frozen; empty while it is not. */
    private String frozen = "";

    FleetIndex(DisruptionBudgets protection) {
        this.protection = protection;
        this.usage = new FleetUsage(protection);
    }

    void restarted(States<NodeState> states, Instant now) {
        usage.clear();
        toDecide.restarted(states);
        locations.clear();
        silence.restart(now);
        freeze(states.get(FleetCommandDecider.FLEET));
        states.forEach((_, state) -> remember(state));
        countTaints(states);
    }

    /** Taints since the brake was opened, however long ago. */
    private void countTaints(States<NodeState> states) {
        usage.openBrake();
        Instant opened = openedAt(states);
        states.forEach((node, state) -> {
            if (!state.acting().policyTainted().isBefore(opened)) {
                usage.tainted(node, state.acting().policyTainted());
            }
        });
    }

    /** Where nobody opened the brake just after the epoch, which stands for no taint. */
    private static Instant openedAt(States<NodeState> states) {
        return FleetCommandDecider.newest(states.get(FleetCommandDecider.FLEET))
                .map(ManualOverride::since)
                .orElse(Instant.EPOCH.plusNanos(1));
    }

    void undone(Set<String> keys, States<NodeState> states) {
        freeze(states.get(FleetCommandDecider.FLEET));
        for (String node : keys) {
            Optional<NodeState> state = states.get(node);
            state.ifPresentOrElse(this::remember, () -> forget(node));
            usage.notTainted(node);
            state.map(known -> known.acting().policyTainted())
                    .filter(at -> !at.isBefore(openedAt(states)))
                    .ifPresent(at -> usage.tainted(node, at));
        }
        if (keys.contains(FleetCommandDecider.FLEET)) {
            countTaints(states);
        }
        toDecide.undone();
    }

    /** Takes the freeze of the fleet from its state. */
    void freeze(Optional<NodeState> fleet) {
        frozen = FleetCommandDecider.freeze(fleet).orElse("");
    }

    /**
     * Nodes to be decided about now.
     *
     * @param readFor how long everything was read that says whether the daemon of a node is alive
     */
    Collection<String> due(States<NodeState> states, Function<String, Duration> readFor, Instant now) {
        toDecide.silent(silence.newlySilent(() -> heardSoFar(states), readFor, now));
        return toDecide.next(states);
    }

    /** Nodes with a Node object of which a daemon is heard, as far as the states know. */
    private static List<String> heardSoFar(States<NodeState> states) {
        var heard = new ArrayList<String>();
        states.forEach((name, state) -> {
            if (!state.boot().id().isEmpty()
                    && state.node().goneSince() == null
                    && state.node().presence().daemon() == Presence.Daemon.HEARD) {
                heard.add(name);
            }
        });
        return heard;
    }

    /** Every node is decided about again, by these budgets. */
    void review(DisruptionBudgets budgets, States<NodeState> states) {
        protection = budgets;
        usage.replace(budgets);
        states.forEach((node, _) -> {
            if (!node.equals(FleetCommandDecider.FLEET)) {
                toDecide.review(node);
            }
        });
    }

    void heard(String node, Instant now) {
        silence.heard(node, now);
        toDecide.heard(node);
    }

    boolean isSilent(String node) {
        return toDecide.isSilent(node);
    }

    /** Nodes of the devices. */
    DeviceLocations locations() {
        return locations;
    }

    /** Actions that budgets, a freeze and maintenance permit about a node. */
    PermittedActions allowance(NodeState state, Instant now) {
        PermittedActions ofBudgets = usage.allowance(state.node().name(), NodeBudgetShareCalculator.of(state), now);
        return Optional.of(frozen)
                .filter(reason -> !reason.isEmpty())
                .or(state::maintenance)
                .map(reason -> PermittedActions.heldBackBy(reason, ofBudgets))
                .orElse(ofBudgets);
    }

    /** Opens the brake; answers the budget before. */
    String openBrake(Instant now) {
        String budget = usage.allowance(FleetCommandDecider.FLEET, NodeBudgetShare.NONE, now)
                .nodeBudget();
        usage.openBrake();
        return budget;
    }

    /** Takes the state that a decision made of another one. */
    void decided(NodeState before, NodeState after) {
        Instant tainted = after.acting().policyTainted();
        if (!tainted.equals(before.acting().policyTainted())) {
            usage.tainted(before.node().name(), tainted);
        }
        if (after == before) {
            rememberHeldBack(before);
        } else {
            remember(after);
        }
    }

    private void remember(NodeState state) {
        usage.put(state.node().name(), NodeBudgetShareCalculator.of(state));
        locations.put(state);
        rememberHeldBack(state);
    }

    /** Depends on the pools as well, which may have been replaced. */
    private void rememberHeldBack(NodeState state) {
        boolean held = !state.heldBack().isEmpty()
                && protection.pool(state.node().placement().labels()).mode() == Mode.ENFORCE;
        toDecide.heldBack(state.node().name(), held);
    }

    void forget(String node) {
        usage.remove(node);
        toDecide.forget(node);
        locations.remove(node);
        silence.forget(node);
    }
}
