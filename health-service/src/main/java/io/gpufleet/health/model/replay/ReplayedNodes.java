package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** States of all nodes under one policy; each node begins unknown. */
final class ReplayedNodes {
    /** So many changes by time alone between two signals of a node are more than any policy makes. */
    static final int MAX_TICKS = 1_000;

    private final HealthMachine machine;
    private final ReplayBudgets budgets;
    private final ReplaySummary.Counter counter = new ReplaySummary.Counter();
    private final Map<String, NodeState> states = new HashMap<>();

    /** Nodes of which nothing is held back. */
    ReplayedNodes(HealthMachine machine) {
        this(machine, new ReplayBudgets(DisruptionBudgets.NONE, Map.of()));
    }

    ReplayedNodes(HealthMachine machine, ReplayBudgets budgets) {
        this.machine = machine;
        this.budgets = budgets;
    }

    /** When time alone changes the node next, if that is before an instant. */
    Optional<Instant> changesAt(String node, Instant before) {
        return Optional.ofNullable(states.get(node)).map(machine::changesAt).filter(at -> at.isBefore(before));
    }

    DecisionResult decide(String node, HealthSignal signal, Instant now) {
        NodeState before = states.computeIfAbsent(
                node, name -> NodeState.unknown(name, signal.metadata().at()));
        DecisionResult result =
                machine.decide(before, replayed(signal, before.revision()), now, budgets.allowance(before, now));
        states.put(node, result.state());
        budgets.decided(before, result.state(), now);
        counter.count(before, result, now);
        return result;
    }

    /** Decides again where a budget held something back and may have room now; the decisions by node. */
    Map<String, List<Decision>> askAgain(Instant now) {
        Map<String, List<Decision>> decisions = new LinkedHashMap<>();
        for (String node : budgets.toAskAgain(now)) {
            decisions.put(
                    node, decide(node, HealthSignal.TimePassed.at(now), now).decisions());
        }
        return decisions;
    }

    ReplaySummary summary() {
        return counter.summary(machine.policy().name());
    }

    /**
     * A verdict gets its revision when it is committed, which is later than the append time that counts here: the recorded one
     * of what was removed would be unknown, and the removal no override.
     */
    private static HealthSignal replayed(HealthSignal signal, long revision) {
        return signal instanceof HealthSignal.OverrideObserved removed
                ? new HealthSignal.OverrideObserved(
                        removed.metadata(), removed.target(), removed.by(), Math.min(removed.revision(), revision))
                : signal;
    }
}
