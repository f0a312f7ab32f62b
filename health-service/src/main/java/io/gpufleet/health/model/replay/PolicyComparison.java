package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Runs the recorded signals of each node through two machines, and reports each decision that only one of them reaches. No
 * budget and no mode holds anything back: the policies are compared, not the fleets. Begins with unknown nodes.
 */
public final class PolicyComparison {
    /** So many changes by time alone between two signals of a node are more than any policy makes. */
    private static final int MAX_TICKS = 1_000;

    private final Replay first;
    private final Replay second;
    private final Consumer<Difference> differences;

    /** Compares two machines. */
    public PolicyComparison(HealthMachine first, HealthMachine second, Consumer<Difference> differences) {
        this.first = new Replay(first);
        this.second = new Replay(second);
        this.differences = differences;
    }

    /** States of all nodes under one policy. */
    private static final class Replay {
        private final HealthMachine machine;
        private final Map<String, NodeState> states = new HashMap<>();

        Replay(HealthMachine machine) {
            this.machine = machine;
        }

        Optional<Instant> changesAt(String node, Instant before) {
            return Optional.ofNullable(states.get(node)).map(machine::changesAt).filter(at -> at.isBefore(before));
        }

        List<Decision> decide(String node, HealthSignal signal, Instant now) {
            NodeState state = states.computeIfAbsent(
                    node, name -> NodeState.unknown(name, signal.metadata().at()));
            DecisionResult result = machine.decide(state, signal, now);
            states.put(node, result.state());
            return result.decisions();
        }
    }

    /** Replays the next signal of a node, in the order of their append times. */
    public void signal(String node, HealthSignal signal) {
        Instant now = signal.metadata().at();
        passTime(node, now);
        step(node, signal, now);
    }

    /** Replays what time alone changes up to an instant. */
    public void passTime(String node, Instant until) {
        Instant before = Instant.MIN;
        for (int ticks = 0; ticks < MAX_TICKS; ticks++) {
            Optional<Instant> next = earliest(first.changesAt(node, until), second.changesAt(node, until));
            if (next.isEmpty() || !next.get().isAfter(before)) {
                return;
            }
            before = next.get();
            step(node, HealthSignal.TimePassed.at(before), before);
        }
    }

    private static Optional<Instant> earliest(Optional<Instant> one, Optional<Instant> other) {
        if (one.isPresent() && other.isPresent()) {
            return one.get().isBefore(other.get()) ? one : other;
        }
        return one.or(() -> other);
    }

    private void step(String node, HealthSignal signal, Instant now) {
        List<Decision> ofFirst = first.decide(node, signal, now);
        List<Decision> ofSecond = second.decide(node, signal, now);
        report(node, now, true, ofFirst, ofSecond);
        report(node, now, false, ofSecond, ofFirst);
    }

    private void report(String node, Instant now, boolean isFirst, List<Decision> decisions, List<Decision> others) {
        var unmatched =
                new ArrayList<>(others.stream().map(Difference.Effect::of).toList());
        for (Decision decision : decisions) {
            if (!unmatched.remove(Difference.Effect.of(decision))) {
                differences.accept(new Difference(node, now, isFirst, decision));
            }
        }
    }
}
