package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Runs the recorded signals of each node through two machines, and reports each decision that only one of them reaches. No
 * budget and no mode holds anything back: the policies are compared, not the fleets. Begins with unknown nodes.
 */
public final class PolicyComparison {
    private final ReplayedNodes first;
    private final ReplayedNodes second;
    private final Consumer<Difference> differences;

    /** Compares two machines. */
    public PolicyComparison(HealthMachine first, HealthMachine second, Consumer<Difference> differences) {
        this.first = new ReplayedNodes(first);
        this.second = new ReplayedNodes(second);
        this.differences = differences;
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
        for (int ticks = 0; ticks < ReplayedNodes.MAX_TICKS; ticks++) {
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
        List<Decision> ofFirst = first.decide(node, signal, now).decisions();
        List<Decision> ofSecond = second.decide(node, signal, now).decisions();
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
