package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.GpuRequest;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;

/**
 * Quotas and the pods that count on them, with counters by quota and limit. For one thread: {@link #apply} changes it in
 * place, so that one event of one pod costs as much with 100,000 pods as with one.
 */
public final class QuotaState {
    private static final int MAX_SHOWN = 20;

    private final NamespaceCoverage coverage = new NamespaceCoverage();
    private final GpuModelIndex models = new GpuModelIndex();
    private final UsageCounters counters = new UsageCounters();
    private final Reservations reservations = new Reservations();
    private final ObservedPods pods = new ObservedPods();
    private final PodIndex index = new PodIndex(models::forget);
    private final Map<String, Map<String, Integer>> carriedOver = new HashMap<>();
    private GpuResources resources = GpuResources.NONE;

    /** Applies an event. */
    public void apply(QuotaEvent event) {
        switch (event) {
            case QuotaEvent.QuotaObserved(GpuQuota quota) -> quotaObserved(quota);
            case QuotaEvent.QuotaDeleted(String name) -> {
                carriedOver.remove(name);
                coverage.quotaDeleted(name).forEach(this::recountNamespace);
            }
            case QuotaEvent.NamespaceObserved(String name, var labels) -> {
                if (coverage.namespaceObserved(name, labels)) {
                    recountNamespace(name);
                }
            }
            case QuotaEvent.NamespaceDeleted(String name) -> {
                if (coverage.namespaceDeleted(name)) {
                    recountNamespace(name);
                }
            }
            case QuotaEvent.NodeObserved(var node) -> {
                models.nodeObserved(node);
                recountChangedModels();
            }
            case QuotaEvent.NodeDeleted(String name) -> {
                models.nodeDeleted(name);
                recountChangedModels();
            }
            case QuotaEvent.GpuModelsAnnounced(String node, var announced) -> {
                models.modelsAnnounced(node, announced);
                recountChangedModels();
            }
            case QuotaEvent.GpuResourcesKnown(var names) -> resourcesKnown(names);
            case QuotaEvent.PodObserved(GpuPod pod, long nanos) -> podObserved(pod, nanos);
            case QuotaEvent.PodDeleted(String uid) -> {
                pods.deleted(uid);
                reservations.remove(uid);
                forget(uid);
            }
            case QuotaEvent.PodsListed(long since) -> pods.removeUnseen(since).forEach(this::forget);
            case QuotaEvent.TimePassed(var now) -> pods.removeReleased(now).forEach(this::forget);
            case QuotaEvent.PodReserved(CountedPod pod) -> {
                if (pods.get(pod.pod().uid()).isEmpty()) {
                    reservations.put(pod);
                    count(pod);
                }
            }
            case QuotaEvent.ReservationDropped(String uid) ->
                reservations.remove(uid).ifPresent(_ -> forget(uid));
            case QuotaEvent.ReservationsReleased(long before) ->
                reservations
                        .removeBefore(before)
                        .forEach(pod -> forget(pod.pod().uid()));
            case QuotaEvent.CarriedOver(String quota, var escrow) -> carriedOver.put(quota, Map.copyOf(escrow));
            case QuotaEvent.CarryOverCleared() -> carryOverCleared();
            case QuotaEvent.TermStarted() -> termStarted();
        }
    }

    private void quotaObserved(GpuQuota quota) {
        GpuQuota known = coverage.quotas().get(quota.name());
        if (known == null || version(quota) >= version(known)) {
            coverage.quotaObserved(quota).forEach(this::recountNamespace);
        }
    }

    private void podObserved(GpuPod pod, long nanos) {
        if (pods.wasDeleted(pod.uid())) {
            return;
        }
        int gpus = GpuRequest.count(pod.containers(), resources);
        boolean admittedHere = pods.get(pod.uid())
                .map(CountedPod::admittedHere)
                .orElseGet(() -> gpus > 0
                        && reservations
                                .consume(pod)
                                .map(reserved -> {
                                    forget(reserved.pod().uid());
                                    return true;
                                })
                                .orElse(false));
        if (pod.terminal() || !GpuResources.requestsExtended(pod.containers())) {
            pods.remove(pod.uid());
            forget(pod.uid());
            return;
        }
        var counted = new CountedPod(pod, gpus, models.modelsFor(pod.constraints()), admittedHere, 0);
        pods.put(counted, nanos);
        count(counted);
    }

    /** A resource that was not known as a GPU may be what a pod requests that was observed before. */
    private void resourcesKnown(Set<String> names) {
        GpuResources next = resources.with(names);
        if (!next.equals(resources)) {
            resources = next;
            pods.replaceAll(pod -> pod.withGpus(GpuRequest.count(pod.pod().containers(), next)))
                    .forEach(this::count);
        }
    }

    private void termStarted() {
        List.copyOf(reservations.all()).forEach(pod -> {
            reservations.remove(pod.pod().uid());
            forget(pod.pod().uid());
        });
        carryOverCleared();
    }

    private void carryOverCleared() {
        carriedOver.clear();
        pods.replaceAll(CountedPod::admittedEarlier).forEach(this::count);
    }

    private void count(CountedPod pod) {
        index.put(pod.pod());
        counters.put(pod, limits(pod));
    }

    private void forget(String uid) {
        index.remove(uid);
        counters.remove(uid);
    }

    private List<LimitKey> limits(CountedPod pod) {
        List<LimitKey> limits = new ArrayList<>();
        if (pod.gpus() == 0) {
            return limits;
        }
        for (GpuQuota quota : coverage.covering(pod.pod().namespace())) {
            for (QuotaLimit limit : quota.limits()) {
                var key = new LimitKey(quota.name(), limit.model());
                if (limit.appliesTo(pod.models()) && !limits.contains(key)) {
                    limits.add(key);
                }
            }
        }
        return List.copyOf(limits);
    }

    private void recountNamespace(String namespace) {
        index.ofNamespace(namespace).forEach(this::recount);
    }

    private void recountChangedModels() {
        Set<String> uids = new LinkedHashSet<>();
        models.drainChangedNodes().forEach(node -> uids.addAll(index.ofNode(node)));
        models.drainChangedConstraints().forEach(constraints -> uids.addAll(index.ofConstraints(constraints)));
        uids.forEach(this::recount);
    }

    private void recount(String uid) {
        pods.get(uid).or(() -> reservations.get(uid)).ifPresent(pod -> {
            CountedPod current = pod.withModels(models.modelsFor(pod.pod().constraints()));
            if (!pods.replace(current)) {
                reservations.replace(current);
            }
            count(current);
        });
    }

    /** Quotas by name. */
    public NavigableMap<String, GpuQuota> quotas() {
        return coverage.quotas();
    }

    /** Namespaces that were observed. */
    public Collection<String> namespaces() {
        return coverage.namespaces();
    }

    /** Value of a label of a namespace; empty without it. */
    public String namespaceLabel(String namespace, String key) {
        return coverage.label(namespace, key);
    }

    /** Quotas that cover a namespace, in name order. */
    public List<GpuQuota> covering(String namespace) {
        return coverage.covering(namespace);
    }

    /** Resources that are known to be GPUs. */
    GpuResources resources() {
        return resources;
    }

    /** Short models that a pod with these constraints may run on. */
    Set<String> modelsFor(SchedulingConstraints constraints) {
        Set<String> found = models.modelsFor(constraints);
        index.asked(constraints);
        return found;
    }

    /** True when a node of the cluster has or had a GPU of the model. */
    public boolean knowsModel(String model) {
        return models.knows(model);
    }

    /** Observed pods that request GPUs and use them now or may. */
    public Collection<CountedPod> pods() {
        return pods.all().stream().filter(pod -> pod.gpus() > 0).toList();
    }

    /** Admitted pods that were not observed yet, oldest first. */
    public Collection<CountedPod> reservations() {
        return reservations.all();
    }

    /** True when a pod is observed or reserved. */
    public boolean knows(String uid) {
        return reservations.contains(uid) || pods.get(uid).isPresent();
    }

    /** Reservation of another request for a pod of the same name. */
    public Optional<CountedPod> reservationOfSameName(GpuPod pod) {
        return reservations.ofSameName(pod);
    }

    /** GPUs that count on a limit now. */
    public int gpus(GpuQuota quota, QuotaLimit limit) {
        var usage = counters.usage(new LimitKey(quota.name(), limit.model()));
        return usage.admittedHere() + usage.others() + carriedOver(quota, limit);
    }

    /**
     * GPUs that count on a limit although their pods were not observed: the escrow of an earlier leader, as far as pods
     * that this replica did not admit do not account for it.
     */
    public int carriedOver(GpuQuota quota, QuotaLimit limit) {
        int escrow = carriedOver.getOrDefault(quota.name(), Map.of()).getOrDefault(limit.model(), 0);
        return Math.max(
                0,
                escrow
                        - counters.usage(new LimitKey(quota.name(), limit.model()))
                                .others());
    }

    /** Usage of a limit with its largest holders. */
    public QuotaUsage usage(GpuQuota quota, QuotaLimit limit) {
        var usage = counters.usage(new LimitKey(quota.name(), limit.model()));
        return new QuotaUsage(
                gpus(quota, limit),
                carriedOver(quota, limit),
                usage.holders().stream()
                        .limit(MAX_SHOWN)
                        .map(pod -> new QuotaUsage.PodUsage(
                                pod.pod().namespace(), pod.pod().displayName(), pod.gpus()))
                        .toList(),
                usage.holders().size());
    }

    /** Quotas whose usage changed since the last call. */
    public Set<String> drainChangedQuotas() {
        return counters.drainChangedQuotas();
    }

    /** True when a reservation was made before a monotonic time. */
    public boolean hasReservationBefore(long nanos) {
        return reservations.hasBefore(nanos);
    }

    /** True while escrow of an earlier leader counts as used. */
    public boolean hasCarryOver() {
        return carriedOver.values().stream()
                .anyMatch(byModel -> byModel.values().stream().anyMatch(gpus -> gpus > 0));
    }

    /** Counters of every limit, for tests and debugging: by quota and model. */
    Map<LimitKey, Integer> totals() {
        Map<LimitKey, Integer> totals = new LinkedHashMap<>();
        quotas().values()
                .forEach(quota -> quota.limits()
                        .forEach(limit -> totals.put(new LimitKey(quota.name(), limit.model()), gpus(quota, limit))));
        return totals;
    }

    private static long version(GpuQuota quota) {
        try {
            return Long.parseLong(quota.resourceVersion());
        } catch (NumberFormatException opaque) {
            return Long.MAX_VALUE;
        }
    }
}
