package io.gpufleet.health.app;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.NodeBudgetShare;
import io.gpufleet.health.model.replay.Difference;
import io.gpufleet.health.model.replay.PolicyComparison;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A second policy, run beside the one in force on the same signals and under the same budgets, with no effect on anything: what
 * only one of both decides is kept for people. One thread feeds it, any thread reads.
 */
public final class ShadowPolicy implements ShadowView {
    /** Differences kept; older ones are in the counts only. */
    static final int KEPT = 1_000;

    /**
     * Policies that are compared, each of which may be replaced at any time.
     *
     * @param policy the one in force
     * @param shadow the second one
     * @param fleet what each node adds to the budgets now
     */
    public record Sources(
            Supplier<HealthMachine> policy,
            Supplier<HealthMachine> shadow,
            Supplier<DisruptionBudgets> budgets,
            Supplier<Map<String, NodeBudgetShare>> fleet) {}

    /** The sources at the begin of a comparison. */
    private record Compared(HealthMachine policy, HealthMachine shadow, DisruptionBudgets budgets) {}

    private final Sources sources;
    private final LongAdder onlyPolicy = new LongAdder();
    private final LongAdder onlyShadow = new LongAdder();
    private final Deque<Difference> newest = new ArrayDeque<>();
    private Compared compared;
    private PolicyComparison comparison;
    private Instant since = Instant.MIN;
    private boolean begun;
    private boolean loaded;

    /** Compares nothing before {@link #begin}. */
    public ShadowPolicy(Sources sources) {
        this.sources = sources;
        this.compared = current();
        this.comparison = comparison(compared);
    }

    private Compared current() {
        return new Compared(
                sources.policy().get(),
                sources.shadow().get(),
                sources.budgets().get());
    }

    private PolicyComparison comparison(Compared now) {
        return new PolicyComparison(
                now.policy(), now.shadow(), now.budgets(), sources.fleet().get(), this::differs);
    }

    private void differs(Difference difference) {
        newest.addFirst(difference);
        if (newest.size() > KEPT) {
            newest.removeLast();
        }
        // What is read of the time before the start was counted by the process that ran then.
        if (loaded) {
            (difference.first() ? onlyPolicy : onlyShadow).increment();
        }
    }

    /** Begins anew with unknown nodes: the signals since an instant follow. */
    public synchronized void begin(Instant from) {
        compared = current();
        comparison = comparison(compared);
        newest.clear();
        since = from;
        begun = true;
        loaded = false;
    }

    /** The next signal. */
    public synchronized void signal(String node, HealthSignal signal) {
        comparison.signal(node, signal);
    }

    /** The history before the start is read; from now on differences are counted. */
    public synchronized void loaded() {
        loaded = true;
    }

    /** Decides what time alone changes up to now. */
    public synchronized void passTime(Instant now) {
        comparison.passTime(now);
    }

    /** True when a policy or the budgets are others than at the begin: the comparison is worth nothing any more. */
    public boolean isOutdated() {
        Compared now = current();
        synchronized (this) {
            // The same objects, not equal ones: a file that is read again makes new ones.
            return now.policy() != compared.policy()
                    || now.shadow() != compared.shadow()
                    || now.budgets() != compared.budgets();
        }
    }

    @Override
    public boolean isOn() {
        return true;
    }

    @Override
    public synchronized Snapshot snapshot(int limit) {
        return new Snapshot(since, loaded, begun ? comparison.summaries() : List.of(), differences(_ -> true, limit));
    }

    @Override
    public synchronized List<Difference> ofNode(String node, int limit) {
        return differences(difference -> difference.node().equals(node), limit);
    }

    private List<Difference> differences(Predicate<Difference> wanted, int limit) {
        return newest.stream().filter(wanted).limit(limit).toList();
    }

    /** Decisions since the start that only the policy in force reached. */
    public long onlyPolicy() {
        return onlyPolicy.sum();
    }

    /** Decisions since the start that only the shadow policy reached. */
    public long onlyShadow() {
        return onlyShadow.sum();
    }
}
