package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.NodeBudgetShareCalculator;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.FleetUsage;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.NodeBudgetShare;
import io.gpufleet.health.model.budget.PermittedActions;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;

/**
 * Budgets during a replay: what is out is what the replayed policy took out, of a fleet that is as large as the fleet of today
 * from the beginning on.
 */
final class ReplayBudgets {
    private final DisruptionBudgets budgets;
    private final Map<String, NodeBudgetShare> fleet;
    private final FleetUsage usage;
    /** Nodes with something held back by a budget, oldest first. */
    private final SequencedSet<String> heldBack = new LinkedHashSet<>();

    private boolean room;
    private Instant askedAt = Instant.MIN;

    /**
     * Budgets of a fleet.
     *
     * @param fleet what each node of today adds, by its name
     */
    ReplayBudgets(DisruptionBudgets budgets, Map<String, NodeBudgetShare> fleet) {
        this.budgets = budgets;
        this.fleet = fleet;
        this.usage = new FleetUsage(budgets);
        fleet.forEach((node, today) ->
                usage.put(node, new NodeBudgetShare(today.labels(), today.counted(), 0, today.devices(), 0)));
    }

    PermittedActions allowance(NodeState state, Instant now) {
        return usage.allowance(state.node().name(), usage(state), now);
    }

    /** A decision was taken: what it took out is out, and what returned makes room for others. */
    void decided(NodeState before, NodeState after, Instant now) {
        String node = after.node().name();
        NodeBudgetShare then = usage(before);
        NodeBudgetShare next = usage(after);
        usage.put(node, next);
        room |= next.out() < then.out() || next.devicesOut() < then.devicesOut();
        if (after.tainted() && !before.tainted() && after.quarantine() == null) {
            usage.tainted(node, now);
        }
        if (!after.heldBack().isEmpty() && budgets.pool(next.labels()).mode() == Mode.ENFORCE) {
            heldBack.add(node);
        } else {
            heldBack.remove(node);
        }
    }

    /** Nodes to be decided about again: something is held back there, and there may be room since they were asked last. */
    List<String> toAskAgain(Instant now) {
        if (heldBack.isEmpty() || !(room || !now.isBefore(nextOpeningOfTheBrake()))) {
            return List.of();
        }
        room = false;
        askedAt = now;
        return List.copyOf(heldBack);
    }

    /** The storm brake lets go one by one; a replay looks once in each of its intervals. */
    private Instant nextOpeningOfTheBrake() {
        Duration within = budgets.brake().within();
        return askedAt.equals(Instant.MIN) ? Instant.MIN : askedAt.plus(within);
    }

    /** Of the replayed state; what was not observed or announced since the beginning is as it is today. */
    private NodeBudgetShare usage(NodeState state) {
        NodeBudgetShare replayed = NodeBudgetShareCalculator.of(state);
        NodeBudgetShare today = fleet.getOrDefault(state.node().name(), NodeBudgetShare.NONE);
        boolean observed = replayed.counted() > 0;
        return new NodeBudgetShare(
                observed ? replayed.labels() : today.labels(),
                Math.max(replayed.counted(), today.counted()),
                replayed.out(),
                Math.max(replayed.devices(), today.devices()),
                replayed.devicesOut());
    }
}
