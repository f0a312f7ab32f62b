package io.gpufleet.allocation.model.quota;

import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * GPUs by quota and limit, kept while pods come and go, so that a decision visits no pod. Remembers on which limits each
 * pod was counted: a pod is taken off where it was counted, whatever became of the quotas since.
 */
final class UsageCounters {
    private record Counted(CountedPod pod, List<LimitKey> limits) {}

    /** Usage of one limit. */
    static final class LimitUsage {
        private static final LimitUsage NONE = new LimitUsage();

        private int admittedHere;
        private int others;
        private final NavigableSet<CountedPod> holders = new TreeSet<>(Comparator.comparingInt(CountedPod::gpus)
                .reversed()
                .thenComparing(pod -> pod.pod().displayName())
                .thenComparing(pod -> pod.pod().uid()));

        /** GPUs of pods that this replica admitted in its term. */
        int admittedHere() {
            return admittedHere;
        }

        /** GPUs of all other pods. */
        int others() {
            return others;
        }

        /** Pods that count, largest first. */
        NavigableSet<CountedPod> holders() {
            return Collections.unmodifiableNavigableSet(holders);
        }

        private void add(CountedPod pod, int sign) {
            if (pod.admittedHere()) {
                admittedHere += sign * pod.gpus();
            } else {
                others += sign * pod.gpus();
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
    void put(CountedPod pod, List<LimitKey> on) {
        Counted before = counted.get(pod.pod().uid());
        if (before != null && before.pod().equals(pod) && before.limits().equals(on)) {
            return;
        }
        remove(pod.pod().uid());
        counted.put(pod.pod().uid(), new Counted(pod, on));
        for (LimitKey limit : on) {
            LimitUsage usage = limits.computeIfAbsent(limit, _ -> new LimitUsage());
            usage.holders.add(pod);
            usage.add(pod, 1);
            changedQuotas.add(limit.quota());
        }
    }

    /** Counts a pod no longer. */
    void remove(String uid) {
        Counted before = counted.remove(uid);
        if (before == null) {
            return;
        }
        for (LimitKey limit : before.limits()) {
            LimitUsage usage = limits.computeIfAbsent(limit, _ -> new LimitUsage());
            usage.holders.remove(before.pod());
            usage.add(before.pod(), -1);
            changedQuotas.add(limit.quota());
            if (usage.holders.isEmpty()) {
                limits.remove(limit);
            }
        }
    }

    /** Quotas whose usage changed since the last call. */
    Set<String> drainChangedQuotas() {
        Set<String> changed = Set.copyOf(changedQuotas);
        changedQuotas.clear();
        return changed;
    }
}
