package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.move.DeviceLocations;
import io.gpufleet.health.model.move.DeviceMoves;
import java.time.Instant;
import java.util.ArrayList;
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
    private final DeviceLocations locations = new DeviceLocations();

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

    /** Decides on a signal of a node, and on what it tells of devices of other nodes. */
    DecisionResult decide(String node, HealthSignal signal, Instant now) {
        return decideWithMoves(node, signal, now).getOrDefault(node, List.of()).getLast();
    }

    /** The decisions of a signal by node: an announcement tells of devices that came from other nodes, or went there. */
    Map<String, List<Decision>> decisions(String node, HealthSignal signal, Instant now) {
        Map<String, List<Decision>> decisions = new LinkedHashMap<>();
        decideWithMoves(node, signal, now)
                .forEach((each, results) -> decisions.put(
                        each,
                        results.stream()
                                .flatMap(result -> result.decisions().stream())
                                .toList()));
        return decisions;
    }

    private Map<String, List<DecisionResult>> decideWithMoves(String node, HealthSignal signal, Instant now) {
        Map<String, List<DecisionResult>> results = new LinkedHashMap<>();
        if (!(signal instanceof HealthSignal.DevicesAnnounced announced)) {
            decideOne(results, node, signal, now);
            return results;
        }
        new DeviceMoves(locations, this::state, node, announced)
                .before(_ -> {})
                .forEach(moved -> decideOne(results, moved.node(), moved.signal(), now));
        decideOne(results, node, signal, now);
        new DeviceMoves(locations, this::state, node, announced)
                .after()
                .forEach(moved -> decideOne(results, moved.node(), moved.signal(), now));
        return results;
    }

    private Optional<NodeState> state(String node) {
        return Optional.ofNullable(states.get(node));
    }

    private void decideOne(Map<String, List<DecisionResult>> results, String node, HealthSignal signal, Instant now) {
        results.computeIfAbsent(node, _ -> new ArrayList<>()).add(decideOne(node, signal, now));
    }

    private DecisionResult decideOne(String node, HealthSignal signal, Instant now) {
        NodeState before = states.computeIfAbsent(
                node, name -> NodeState.unknown(name, signal.metadata().at()));
        DecisionResult result =
                machine.decide(before, replayed(signal, before.revision()), now, budgets.allowance(before, now));
        states.put(node, result.state());
        locations.put(result.state());
        budgets.decided(before, result.state(), now);
        counter.count(before, result, now);
        return result;
    }

    /** Decides again where a budget held something back and may have room now; the decisions by node. */
    Map<String, List<Decision>> askAgain(Instant now) {
        Map<String, List<Decision>> decisions = new LinkedHashMap<>();
        for (String node : budgets.toAskAgain(now)) {
            decisions.put(
                    node, decideOne(node, HealthSignal.TimePassed.at(now), now).decisions());
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
