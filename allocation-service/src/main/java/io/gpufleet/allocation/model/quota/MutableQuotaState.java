package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.quota.UsageTotals.LimitKey;
import io.gpufleet.allocation.model.quota.UsageTotals.Total;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.GpuRequest;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Working copy of a {@link QuotaState} while one batch of events is applied. */
final class MutableQuotaState {
    private static final int MAX_DELETED_UIDS = 10_000;

    private final CopyOnWrite<NavigableMap<String, GpuQuota>> quotas;
    private final CopyOnWrite<Map<String, Map<String, String>>> namespaces;
    private final MutableGpuModelIndex models;
    private final CopyOnWrite<Map<String, CountedPod>> pods;
    private final CopyOnWrite<SequencedMap<String, CountedPod>> reservations;
    private final CopyOnWrite<Map<String, Map<String, Integer>>> carriedOver;
    private final CopyOnWrite<SequencedSet<String>> deletedUids;
    private Map<String, List<String>> coveringByNamespace;
    private final CopyOnWrite<Map<LimitKey, Total>> totals;
    private boolean stale;
    private boolean coverageChanged;
    private boolean recount;

    MutableQuotaState(QuotaState state) {
        quotas = new CopyOnWrite<>(state.quotas(), TreeMap::new);
        namespaces = new CopyOnWrite<>(state.namespaces(), HashMap::new);
        models = new MutableGpuModelIndex(state.models());
        pods = new CopyOnWrite<>(state.pods(), LinkedHashMap::new);
        reservations = new CopyOnWrite<>(state.reservations(), LinkedHashMap::new);
        carriedOver = new CopyOnWrite<>(state.carriedOver(), HashMap::new);
        deletedUids = new CopyOnWrite<>(state.deletedUids(), LinkedHashSet::new);
        coveringByNamespace = state.totals().coveringByNamespace();
        totals = new CopyOnWrite<>(state.totals().totals(), HashMap::new);
        stale = state.totals().stale();
    }

    QuotaState toState() {
        if (coverageChanged) {
            coveringByNamespace = UsageTotals.index(quotas.read(), namespaces.read());
        }
        if (coverageChanged || recount) {
            totals.write().clear();
            pods.read().values().forEach(pod -> count(pod, 1));
            reservations.read().values().forEach(pod -> count(pod, 1));
        }
        return new QuotaState(
                quotas.read(),
                namespaces.read(),
                models.toIndex(),
                pods.read(),
                reservations.read(),
                carriedOver.read(),
                deletedUids.read(),
                new UsageTotals(coveringByNamespace, totals.read(), stale || models.changed()));
    }

    void apply(QuotaEvent event) {
        switch (event) {
            case QuotaEvent.QuotaObserved(GpuQuota quota) -> quotaObserved(quota);
            case QuotaEvent.QuotaDeleted(String name) -> quotaDeleted(name);
            case QuotaEvent.NamespaceObserved(String name, Map<String, String> labels) ->
                namespaceObserved(name, labels);
            case QuotaEvent.NamespaceDeleted(String name) -> namespaceDeleted(name);
            case QuotaEvent.NodeObserved(var node) -> models.withNode(node);
            case QuotaEvent.NodeDeleted(String name) -> models.withoutNode(name);
            case QuotaEvent.GpuModelsAnnounced(String node, var announced) -> models.withModels(node, announced);
            case QuotaEvent.PodObserved(GpuPod pod) -> podObserved(pod);
            case QuotaEvent.PodDeleted(String uid) -> podDeleted(uid);
            case QuotaEvent.PodReserved(CountedPod pod) ->
                replace(reservations.write().put(pod.pod().uid(), pod), pod);
            case QuotaEvent.ReservationsReleased(long beforeNanos) -> reservationsReleased(beforeNanos);
            case QuotaEvent.CarriedOver(String quota, Map<String, Integer> escrow) ->
                carriedOver.write().put(quota, Map.copyOf(escrow));
            case QuotaEvent.CarryOverCleared() -> carryOverCleared();
            case QuotaEvent.TermStarted() -> {
                reservations.write().clear();
                carryOverCleared();
            }
        }
    }

    private void quotaObserved(GpuQuota quota) {
        GpuQuota known = quotas.read().get(quota.name());
        if (known == null || version(quota) >= version(known)) {
            quotas.write().put(quota.name(), quota);
            coverageChanged |= known == null || !known.countsLike(quota);
        }
    }

    private void quotaDeleted(String name) {
        coverageChanged |= quotas.read().containsKey(name);
        quotas.write().remove(name);
        carriedOver.write().remove(name);
    }

    private void namespaceObserved(String name, Map<String, String> labels) {
        if (!labels.equals(namespaces.read().get(name))) {
            namespaces.write().put(name, Map.copyOf(labels));
            coverageChanged = true;
        }
    }

    private void namespaceDeleted(String name) {
        coverageChanged |= namespaces.read().containsKey(name);
        namespaces.write().remove(name);
    }

    private void podObserved(GpuPod pod) {
        if (deletedUids.read().contains(pod.uid())) {
            return;
        }
        boolean admittedHere = consumeReservation(pod);
        if (pod.terminal() || !(GpuRequest.of(pod.containers()) instanceof GpuRequest.Count(int gpus)) || gpus == 0) {
            replace(pods.write().remove(pod.uid()), null);
            return;
        }
        var counted = new CountedPod(pod, gpus, models.toIndex().modelsFor(pod.constraints()), admittedHere, 0);
        replace(pods.write().put(pod.uid(), counted), counted);
    }

    /** Ends the reservation of an observed pod; true when this replica admitted the pod. */
    private boolean consumeReservation(GpuPod pod) {
        CountedPod known = pods.read().get(pod.uid());
        if (known != null) {
            return known.admittedHere();
        }
        Optional<String> key = reservations.read().containsKey(pod.uid())
                ? Optional.of(pod.uid())
                : reservations.read().entrySet().stream()
                        .filter(entry -> isCreatedFrom(entry.getValue().pod(), pod))
                        .map(Map.Entry::getKey)
                        .findFirst();
        key.ifPresent(uid -> replace(reservations.write().remove(uid), null));
        return key.isPresent();
    }

    // Whether a request without a UID may have become the pod: by name, or by the prefix of a generated name.
    private static boolean isCreatedFrom(GpuPod requested, GpuPod pod) {
        return !requested.uidKnown()
                && requested.namespace().equals(pod.namespace())
                && (requested.name().isEmpty()
                        ? !requested.generateName().isEmpty() && pod.name().startsWith(requested.generateName())
                        : requested.name().equals(pod.name()));
    }

    private void podDeleted(String uid) {
        replace(pods.write().remove(uid), null);
        replace(reservations.write().remove(uid), null);
        deletedUids.write().add(uid);
        if (deletedUids.read().size() > MAX_DELETED_UIDS) {
            deletedUids.write().removeFirst();
        }
    }

    private void reservationsReleased(long beforeNanos) {
        reservations.write().values().removeIf(pod -> {
            boolean due = pod.reservedAtNanos() - beforeNanos < 0;
            if (due) {
                replace(pod, null);
            }
            return due;
        });
    }

    private void carryOverCleared() {
        carriedOver.write().clear();
        pods.write().replaceAll((uid, pod) -> pod.admittedEarlier());
        recount = true;
    }

    /** Looks up the models of every counted pod again. Most pods share a few constraints. */
    void updateModels() {
        GpuModelIndex index = models.toIndex();
        Map<SchedulingConstraints, Set<String>> modelsByConstraints = new HashMap<>();
        for (Map<String, CountedPod> counted : List.of(pods.write(), reservations.write())) {
            counted.replaceAll((uid, pod) ->
                    pod.withModels(modelsByConstraints.computeIfAbsent(pod.pod().constraints(), index::modelsFor)));
        }
        stale = false;
        recount = true;
    }

    /** Keeps the totals while a counted pod is added, replaced or removed. */
    private void replace(@Nullable CountedPod before, @Nullable CountedPod after) {
        if (coverageChanged || recount) {
            return;
        }
        if (before != null) {
            count(before, -1);
        }
        if (after != null) {
            count(after, 1);
        }
    }

    private void count(CountedPod pod, int sign) {
        String namespace = pod.pod().namespace();
        List<String> covering = coveringByNamespace.get(namespace);
        if (covering == null) {
            covering = UsageTotals.covering(namespace, quotas.read(), namespaces.read());
        }
        for (String name : covering) {
            GpuQuota quota = quotas.read().get(name);
            if (quota != null) {
                UsageTotals.count(totals.write(), quota, pod, sign);
            }
        }
    }

    private static long version(GpuQuota quota) {
        try {
            return Long.parseLong(quota.resourceVersion());
        } catch (NumberFormatException opaque) {
            return Long.MAX_VALUE;
        }
    }
}
