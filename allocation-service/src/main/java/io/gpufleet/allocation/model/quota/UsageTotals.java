package io.gpufleet.allocation.model.quota;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * GPUs of all counted pods by quota and limit, so that a decision need not visit the pods. Derived from the rest of the
 * {@link QuotaState}: quotas, namespaces, pods and reservations.
 *
 * @param coveringByNamespace names of the quotas that cover a namespace, in name order, for every namespace that is
 *     known or that a quota names
 * @param totals totals that are not zero
 * @param stale whether the GPU model index changed since the models of the counted pods were looked up
 */
public record UsageTotals(Map<String, List<String>> coveringByNamespace, Map<LimitKey, Total> totals, boolean stale) {
    /** Totals without quotas. */
    public static final UsageTotals EMPTY = new UsageTotals(Map.of(), Map.of(), false);

    /** A limit of a quota. */
    public record LimitKey(String quota, String model) {}

    /** GPUs of pods that this replica admitted in its term, and GPUs of all others. */
    public record Total(int admittedHere, int others) {
        static final Total ZERO = new Total(0, 0);

        private Total plus(CountedPod pod, int sign) {
            return pod.admittedHere()
                    ? new Total(admittedHere + sign * pod.gpus(), others)
                    : new Total(admittedHere, others + sign * pod.gpus());
        }
    }

    /** Makes the maps unmodifiable; they are not copied. */
    public UsageTotals {
        coveringByNamespace = Collections.unmodifiableMap(coveringByNamespace);
        totals = Collections.unmodifiableMap(totals);
    }

    /** Index of the quotas by namespace. */
    static Map<String, List<String>> index(Map<String, GpuQuota> quotas, Map<String, Map<String, String>> namespaces) {
        Set<String> names = new HashSet<>(namespaces.keySet());
        quotas.values().forEach(quota -> names.addAll(quota.namespaces()));
        Map<String, List<String>> index = new HashMap<>();
        names.forEach(name -> index.put(name, covering(name, quotas, namespaces)));
        return index;
    }

    /** Names of the quotas that cover a namespace, in name order. */
    static List<String> covering(
            String namespace, Map<String, GpuQuota> quotas, Map<String, Map<String, String>> namespaces) {
        Map<String, String> labels = namespaces.getOrDefault(namespace, Map.of());
        return quotas.values().stream()
                .filter(quota -> quota.covers(namespace, labels))
                .map(GpuQuota::name)
                .toList();
    }

    Total total(String quota, String model) {
        return totals.getOrDefault(new LimitKey(quota, model), Total.ZERO);
    }

    /** Adds a pod to the totals of a quota (sign 1), or takes it off (sign -1). */
    static void count(Map<LimitKey, Total> totals, GpuQuota quota, CountedPod pod, int sign) {
        quota.limits().stream()
                .filter(limit -> limit.appliesTo(pod.models()))
                .map(QuotaLimit::model)
                .distinct()
                .forEach(model -> totals.compute(new LimitKey(quota.name(), model), (key, total) -> {
                    Total next = (total == null ? Total.ZERO : total).plus(pod, sign);
                    return next.equals(Total.ZERO) ? null : next;
                }));
    }
}
