package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.quota.UsageTotals.Total;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.TreeMap;

/**
 * Quotas and the pods that count on them. Immutable; {@link QuotaStateReducer} makes the next state.
 *
 * @param quotas quotas by name
 * @param namespaces labels of the namespaces by name
 * @param models GPU models that a pod may run on
 * @param pods pods of the cluster that request GPUs and are not terminal, by UID
 * @param reservations admitted pods that were not observed yet, by UID, oldest first
 * @param carriedOver by quota and model: escrow of an earlier leader that counts as used
 * @param deletedUids UIDs of deleted pods, oldest first
 * @param totals usage by quota and limit, derived from the other components
 */
public record QuotaState(
        NavigableMap<String, GpuQuota> quotas,
        Map<String, Map<String, String>> namespaces,
        GpuModelIndex models,
        Map<String, CountedPod> pods,
        SequencedMap<String, CountedPod> reservations,
        Map<String, Map<String, Integer>> carriedOver,
        SequencedSet<String> deletedUids,
        UsageTotals totals) {
    /** The state before the first event. */
    public static final QuotaState EMPTY = new QuotaState(
            new TreeMap<>(),
            Map.of(),
            GpuModelIndex.EMPTY,
            Map.of(),
            new LinkedHashMap<>(),
            Map.of(),
            new LinkedHashSet<>(),
            UsageTotals.EMPTY);

    /** Makes the collections unmodifiable; states share them, so they are not copied. */
    public QuotaState {
        quotas = Collections.unmodifiableNavigableMap(quotas);
        namespaces = Collections.unmodifiableMap(namespaces);
        pods = Collections.unmodifiableMap(pods);
        reservations = Collections.unmodifiableSequencedMap(reservations);
        carriedOver = Collections.unmodifiableMap(carriedOver);
        deletedUids = Collections.unmodifiableSequencedSet(deletedUids);
    }

    /** Quotas that cover a namespace, in name order. */
    public List<GpuQuota> covering(String namespace) {
        List<String> names = totals.coveringByNamespace().get(namespace);
        return (names == null ? UsageTotals.covering(namespace, quotas, namespaces) : names)
                .stream().map(quotas::get).filter(Objects::nonNull).toList();
    }

    /** GPUs that count on a limit now. */
    public int gpus(GpuQuota quota, QuotaLimit limit) {
        Total total = totals.total(quota.name(), limit.model());
        return total.admittedHere() + total.others() + carriedOver(quota, limit);
    }

    /**
     * GPUs that count on a limit although their pods were not observed: the escrow of an earlier leader, as far as pods
     * that this replica did not admit do not account for it.
     */
    public int carriedOver(GpuQuota quota, QuotaLimit limit) {
        int escrow = carriedOver.getOrDefault(quota.name(), Map.of()).getOrDefault(limit.model(), 0);
        return Math.max(0, escrow - totals.total(quota.name(), limit.model()).others());
    }

    /** Usage of a limit with its holders. Visits every pod: for messages and views. */
    public QuotaUsage usage(GpuQuota quota, QuotaLimit limit) {
        return usage(quota, limit, List.of());
    }

    /** Usage of a limit if some more pods, admitted by this replica, were counted. */
    QuotaUsage usage(GpuQuota quota, QuotaLimit limit, Collection<CountedPod> more) {
        List<QuotaUsage.PodUsage> holders = new ArrayList<>();
        int gpus = gpus(quota, limit);
        for (Collection<CountedPod> counted : List.of(pods.values(), reservations.values(), more)) {
            for (CountedPod pod : counted) {
                if (counts(pod, quota, limit)) {
                    holders.add(new QuotaUsage.PodUsage(pod.pod().displayName(), pod.gpus()));
                }
            }
        }
        for (CountedPod pod : more) {
            gpus += counts(pod, quota, limit) ? pod.gpus() : 0;
        }
        return new QuotaUsage(gpus, carriedOver(quota, limit), holders);
    }

    private boolean counts(CountedPod pod, GpuQuota quota, QuotaLimit limit) {
        String namespace = pod.pod().namespace();
        return limit.appliesTo(pod.models()) && quota.covers(namespace, namespaces.getOrDefault(namespace, Map.of()));
    }

    /** True when a reservation was made before a monotonic time. */
    public boolean hasReservationBefore(long nanos) {
        return reservations.values().stream().anyMatch(pod -> pod.reservedAtNanos() - nanos < 0);
    }

    /** True while escrow of an earlier leader counts as used. */
    public boolean hasCarryOver() {
        return carriedOver.values().stream()
                .anyMatch(byModel -> byModel.values().stream().anyMatch(gpus -> gpus > 0));
    }
}
