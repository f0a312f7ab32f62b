package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.NodeBudgetShare;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Runs the recorded signals of a fleet through two machines, and reports each decision that only one of them reaches, or only
 * one of them may carry out. Begins with unknown nodes.
 */
public final class PolicyComparison {
    private final ReplayedNodes first;
    private final ReplayedNodes second;
    private final Consumer<Difference> differences;
    private final ReplayTimers timers = new ReplayTimers();

    /**
     * Compares two machines under the same budgets.
     *
     * @param fleet what each node of today adds to the budgets, by its name
     */
    public PolicyComparison(
            HealthMachine first,
            HealthMachine second,
            DisruptionBudgets budgets,
            Map<String, NodeBudgetShare> fleet,
            Consumer<Difference> differences) {
        this.first = new ReplayedNodes(first, new ReplayBudgets(budgets, fleet));
        this.second = new ReplayedNodes(second, new ReplayBudgets(budgets, fleet));
        this.differences = differences;
    }

    /** Replays the next signal; those of all nodes come in the order of their append times. */
    public void signal(String node, HealthSignal signal) {
        Instant now = signal.metadata().at();
        passTime(now);
        timers.signal(node);
        step(node, signal, now);
    }

    /** Replays what time alone changes on any node before an instant. */
    public void passTime(Instant until) {
        for (var due = timers.next(until); due.isPresent(); due = timers.next(until)) {
            Instant at = due.get().at();
            step(due.get().node(), HealthSignal.TimePassed.at(at), at);
        }
    }

    private void step(String node, HealthSignal signal, Instant now) {
        compare(now, first.decisions(node, signal, now), second.decisions(node, signal, now));
        compare(now, first.askAgain(now), second.askAgain(now));
    }

    private void compare(Instant now, Map<String, List<Decision>> ofFirst, Map<String, List<Decision>> ofSecond) {
        var asked = new LinkedHashSet<>(ofFirst.keySet());
        asked.addAll(ofSecond.keySet());
        for (String each : asked) {
            compare(each, now, ofFirst.getOrDefault(each, List.of()), ofSecond.getOrDefault(each, List.of()));
            schedule(each);
        }
    }

    private void schedule(String node) {
        Stream.of(first.changesAt(node, Instant.MAX), second.changesAt(node, Instant.MAX))
                .flatMap(Optional::stream)
                .min(Instant::compareTo)
                .ifPresentOrElse(at -> timers.set(node, at), () -> timers.clear(node));
    }

    private void compare(String node, Instant now, List<Decision> ofFirst, List<Decision> ofSecond) {
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

    /** Effects of each policy, the first one first. */
    public List<ReplaySummary> summaries() {
        return List.of(first.summary(), second.summary());
    }
}
