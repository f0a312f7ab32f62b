package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * Usage by quota and limit, exactly, kept while pods come and go, so that a decision visits no pod. Remembers on which limits each
 * pod was counted: a pod is taken off where it was counted, whatever became of the quotas since.
 */
final class QuotaUsageCounters {
    private record Counted(CountedPod pod, Map<LimitKey, GpuAmount> limits) {}

    /** A pod with what it counts on a limit. */
    record LimitHolder(CountedPod pod, GpuAmount amount) {
        private static final Comparator<LimitHolder> LARGEST_FIRST = Comparator.comparing(LimitHolder::amount)
                .reversed()
                .thenComparing(holder -> holder.pod().pod().displayName())
                .thenComparing(holder -> holder.pod().pod().uid());
    }

    /** Usage of one limit. */
    static final class LimitUsage {
        private static final LimitUsage NONE = new LimitUsage();

        private GpuAmount admittedHere = GpuAmount.ZERO;
        private GpuAmount others = GpuAmount.ZERO;
        private final NavigableSet<LimitHolder> holders = new TreeSet<>(LimitHolder.LARGEST_FIRST);

        /** Usage of pods that this replica admitted in its term. */
        GpuAmount admittedHere() {
            return admittedHere;
        }

        /** Usage of all other pods. */
        GpuAmount others() {
            return others;
        }

        /** Pods that count, largest first. */
        NavigableSet<LimitHolder> holders() {
            return Collections.unmodifiableNavigableSet(holders);
        }

        private void add(LimitHolder holder) {
            holders.add(holder);
            change(holder.pod(), holder.amount());
        }

        private void remove(LimitHolder holder) {
            holders.remove(holder);
            change(holder.pod(), GpuAmount.ZERO.minus(holder.amount()));
        }

        private void change(CountedPod pod, GpuAmount amount) {
            if (pod.admittedHere()) {
                admittedHere = admittedHere.plus(amount);
            } else {
                others = others.plus(amount);
            }
        }
    }

    private final Map<LimitKey, LimitUsage> limits = new HashMap<>();
    private final Map<String, Counted> counted = new HashMap<>();
    private final Set<String> changedQuotas = new HashSet<>();

    LimitUsage usage(LimitKey limit) {
        return limits.getOrDefault(limit, LimitUsage.NONE);
    }

    /** Counts a pod on limits, and no longer on those on which it was counted before. */
    void put(CountedPod pod, Map<LimitKey, GpuAmount> on) {
        Counted before = counted.get(pod.pod().uid());
        if (before != null && before.pod().equals(pod) && before.limits().equals(on)) {
            return;
        }
        remove(pod.pod().uid());
        counted.put(pod.pod().uid(), new Counted(pod, on));
        on.forEach((limit, amount) -> {
            limits.computeIfAbsent(limit, _ -> new LimitUsage()).add(new LimitHolder(pod, amount));
            changedQuotas.add(limit.quota());
        });
    }

    /** Counts a pod no longer. */
    void remove(String uid) {
        Counted before = counted.remove(uid);
        if (before == null) {
            return;
        }
        before.limits().forEach((limit, amount) -> {
            LimitUsage usage = limits.computeIfAbsent(limit, _ -> new LimitUsage());
            usage.remove(new LimitHolder(before.pod(), amount));
            changedQuotas.add(limit.quota());
            if (usage.holders.isEmpty()) {
                limits.remove(limit);
            }
        });
    }

    /** Quotas whose usage changed since the last call. */
    Set<String> drainChangedQuotas() {
        Set<String> changed = Set.copyOf(changedQuotas);
        changedQuotas.clear();
        return changed;
    }
}
