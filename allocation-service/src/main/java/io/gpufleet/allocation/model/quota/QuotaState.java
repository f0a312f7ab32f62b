package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.allocation.model.scheduling.PodGpuRequest;
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
    private final GpuOfferIndex offers = new GpuOfferIndex();
    private final QuotaUsageCounters counters = new QuotaUsageCounters();
    private final Reservations reservations = new Reservations();
    private final ObservedPods pods = new ObservedPods();
    private final PodIndex index = new PodIndex(offers::forget);
    private final SharedParts shared = new SharedParts();
    private final Map<String, Map<String, Integer>> carriedOver = new HashMap<>();
    private GpuResources resources = GpuResources.NONE;

    /** Applies an event. */
    public void apply(QuotaEvent event) {
        switch (event) {
            case QuotaEvent.QuotaObserved(GpuQuota quota) -> quotaObserved(quota);
            case QuotaEvent.QuotaDeleted(String name) ->
                // What was carried over stays: the quota may be made anew before the pods are created.
                coverage.quotaDeleted(name).forEach(this::recountNamespace);
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
                offers.nodeObserved(node);
                recountChangedOffers();
            }
            case QuotaEvent.NodeDeleted(String name) -> {
                offers.nodeDeleted(name);
                recountChangedOffers();
            }
            case QuotaEvent.GpusAnnounced(String node, var announced) -> {
                offers.gpusAnnounced(node, announced);
                recountChangedOffers();
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
                    CountedPod reserved = pod.withPod(shared.of(pod.pod()));
                    reservations.put(reserved);
                    count(reserved);
                }
            }
            case QuotaEvent.ReservationDropped(String uid) ->
                reservations.remove(uid).ifPresent(_ -> forget(uid));
            case QuotaEvent.ReservationsReleased(long before) ->
                reservations
                        .removeBefore(before)
                        .forEach(pod -> forget(pod.pod().uid()));
            case QuotaEvent.CarriedOver(String quota, var escrow) ->
                carriedOver.merge(quota, Map.copyOf(escrow), QuotaState::larger);
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

    private void podObserved(GpuPod observed, long nanos) {
        if (pods.wasDeleted(observed.uid()) || pods.seenAgain(observed, nanos)) {
            return;
        }
        GpuPod pod = shared.of(observed);
        GpuDemand demand = demandOf(pod);
        boolean admittedHere = pods.get(pod.uid())
                .map(CountedPod::admittedHere)
                .orElseGet(() -> !demand.isEmpty()
                        && reservations
                                .consume(pod)
                                .map(reserved -> {
                                    forget(reserved.pod().uid());
                                    return reserved.admittedHere();
                                })
                                .orElse(false));
        if (pod.terminal() || !GpuResources.requestsExtended(pod.containers())) {
            pods.remove(pod.uid());
            forget(pod.uid());
            return;
        }
        var counted = new CountedPod(pod, demand, admittedHere, 0);
        pods.put(counted, nanos);
        count(counted);
    }

    /** A resource that was not known as a GPU may be what a pod requests that was observed before. */
    private void resourcesKnown(Set<String> names) {
        GpuResources next = resources.with(names);
        if (!next.equals(resources)) {
            resources = next;
            pods.replaceAll(pod -> pod.withDemand(demandOf(pod.pod()))).forEach(this::count);
        }
    }

    private void termStarted() {
        // A request outlives the term in which it was admitted, and the status of its quota may be lost.
        List.copyOf(reservations.all()).stream()
                .map(CountedPod::admittedEarlier)
                .forEach(pod -> {
                    reservations.replace(pod);
                    count(pod);
                });
        carryOverCleared();
    }

    /** The larger amount of each limit that both have: one that either lacks counts as used whole. */
    private static Map<String, Integer> larger(Map<String, Integer> one, Map<String, Integer> other) {
        Map<String, Integer> larger = new HashMap<>();
        one.forEach((limit, amount) -> {
            Integer known = other.get(limit);
            if (known != null) {
                larger.put(limit, Math.max(amount, known));
            }
        });
        return larger;
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

    private GpuDemand demandOf(GpuPod pod) {
        return demand(pod.constraints(), PodGpuRequest.devices(pod.containers(), resources));
    }

    private GpuDemand demand(SchedulingConstraints constraints, Map<String, Integer> devices) {
        List<GpuDemand.Part> parts = new ArrayList<>(devices.size());
        devices.forEach((resource, number) ->
                parts.add(new GpuDemand.Part(resource, number, offers.offersFor(constraints, resource))));
        return parts.isEmpty() ? GpuDemand.NONE : shared.of(new GpuDemand(parts));
    }

    private Map<LimitKey, GpuAmount> limits(CountedPod pod) {
        if (pod.demand().isEmpty()) {
            return Map.of();
        }
        Map<LimitKey, GpuAmount> limits = new HashMap<>();
        for (GpuQuota quota : coverage.covering(pod.pod().namespace())) {
            for (QuotaLimit limit : quota.limits()) {
                GpuAmount amount = pod.demand().on(limit);
                if (!amount.isZero()) {
                    limits.put(new LimitKey(quota.name(), limit.id()), amount);
                }
            }
        }
        return shared.of(Map.copyOf(limits));
    }

    private void recountNamespace(String namespace) {
        index.ofNamespace(namespace).forEach(this::recount);
    }

    private void recountChangedOffers() {
        Set<String> uids = new LinkedHashSet<>();
        offers.drainChangedNodes().forEach(node -> uids.addAll(index.ofNode(node)));
        offers.drainChangedConstraints().forEach(constraints -> uids.addAll(index.ofConstraints(constraints)));
        uids.forEach(this::recount);
    }

    private void recount(String uid) {
        pods.get(uid).or(() -> reservations.get(uid)).ifPresent(pod -> {
            CountedPod current =
                    pod.withDemand(demand(pod.pod().constraints(), pod.demand().byResource()));
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

    /** Demand of a pod that requests devices by resource. */
    GpuDemand demandFor(SchedulingConstraints constraints, Map<String, Integer> devices) {
        GpuDemand found = demand(constraints, devices);
        index.asked(constraints);
        return found;
    }

    /** True when a node has or had a device that the limit counts. */
    public boolean knowsLimit(QuotaLimit limit) {
        return limit.isAny() || limit.selector() instanceof GpuSelector.Others || offers.knows(limit.selector());
    }

    /** Observed pods that request GPUs and use them now or may. */
    public Collection<CountedPod> pods() {
        return pods.all().stream().filter(pod -> !pod.demand().isEmpty()).toList();
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

    /** Amount that counts on a limit now. */
    public GpuAmount used(GpuQuota quota, QuotaLimit limit) {
        var usage = counters.usage(new LimitKey(quota.name(), limit.id()));
        return usage.admittedHere().plus(usage.others()).plus(carriedOver(quota, limit));
    }

    /**
     * Amount that counts on a limit although its pods were not observed: the escrow of an earlier leader, as far as pods that
     * this replica did not admit do not account for it. A limit that the earlier leader did not know counts whole.
     */
    public GpuAmount carriedOver(GpuQuota quota, QuotaLimit limit) {
        Map<String, Integer> byLimit = carriedOver.get(quota.name());
        int escrow = byLimit == null ? 0 : byLimit.getOrDefault(limit.id(), limit.max());
        if (escrow == 0) {
            return GpuAmount.ZERO;
        }
        GpuAmount others =
                counters.usage(new LimitKey(quota.name(), limit.id())).others();
        return GpuAmount.of(escrow).minus(others).max(GpuAmount.ZERO);
    }

    /** Usage of a limit with its largest holders. */
    public QuotaUsage usage(GpuQuota quota, QuotaLimit limit) {
        var usage = counters.usage(new LimitKey(quota.name(), limit.id()));
        return new QuotaUsage(
                used(quota, limit),
                carriedOver(quota, limit),
                usage.holders().stream()
                        .limit(MAX_SHOWN)
                        .map(holder -> new QuotaUsage.PodUsage(
                                holder.pod().pod().namespace(),
                                holder.pod().pod().displayName(),
                                holder.amount()))
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
        return !carriedOver.isEmpty();
    }

    /** Counters of every limit, for tests and debugging. */
    Map<LimitKey, GpuAmount> totals() {
        Map<LimitKey, GpuAmount> totals = new LinkedHashMap<>();
        quotas().values()
                .forEach(quota -> quota.limits()
                        .forEach(limit -> totals.put(new LimitKey(quota.name(), limit.id()), used(quota, limit))));
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
