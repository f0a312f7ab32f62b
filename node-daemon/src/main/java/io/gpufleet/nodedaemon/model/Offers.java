package io.gpufleet.nodedaemon.model;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the kubelet is told, and since when a device is Unhealthy: a device leaves in two steps, because a kubelet still
 * dereferences its list after Allocate.
 *
 * @param listed every device in the list, by id; one that leaves a resource while another has its id, by both names
 * @param unhealthySince monotonic clock, for those that are Unhealthy
 */
public record Offers(Map<String, Offer> listed, Map<String, Long> unhealthySince) {
    /** How long a device is listed Unhealthy at least before it may leave the list. */
    public static final Duration BEFORE_LEAVING = Duration.ofSeconds(60);

    /** Nothing is listed. */
    public static final Offers NONE = new Offers(Map.of(), Map.of());

    /** Keeps the order. */
    public Offers {
        listed = Collections.unmodifiableMap(new LinkedHashMap<>(listed));
        unhealthySince = Map.copyOf(unhealthySince);
    }

    /** What is to be told now of the devices of a plan, and of those that have left it. */
    public Offers next(
            List<PlannedDevice> plan, Look lastLook, HealthBook health, Surroundings surroundings, Moment now) {
        var former = FormerUse.of(plan, listed.values(), surroundings.heldIds());
        var wanted = new LinkedHashMap<String, Offer>();
        var gone = new LinkedHashMap<String, Offer>();
        for (PlannedDevice device : plan) {
            Offer offer = offer(device, lastLook, health, surroundings, former);
            (placeIsGone(device.known()) ? gone : wanted).put(offer.id(), offer);
        }
        listed.values().stream()
                .filter(offer -> !former.stays(offer))
                .forEach(offer -> gone.put(
                        former.planned(offer) ? offer.resource() + " " + offer.id() : offer.id(),
                        offer.leaving("removed: the node has no such device any more, or offers it otherwise")));
        var nextListed = new LinkedHashMap<>(wanted);
        var nextSince = new LinkedHashMap<String, Long>();
        wanted.forEach((key, offer) -> {
            if (!offer.healthy()) {
                nextSince.put(key, since(key, now));
            }
        });
        gone.forEach((key, offer) -> {
            if (mustStay(key, offer, surroundings, now)) {
                nextListed.put(key, offer);
                nextSince.put(key, since(key, now));
            }
        });
        return new Offers(nextListed, nextSince);
    }

    private static boolean placeIsGone(KnownGpu known) {
        return known.presence() instanceof KnownGpu.Presence.Missing(long _, String _, boolean placeIsThere)
                && !placeIsThere;
    }

    private long since(String key, Moment now) {
        return unhealthySince.getOrDefault(key, now.nanos());
    }

    private boolean mustStay(String key, Offer offer, Surroundings surroundings, Moment now) {
        boolean held = surroundings.heldIds().contains(offer.id());
        boolean young = now.since(since(key, now)).compareTo(BEFORE_LEAVING) < 0;
        return listed.containsKey(key) || offer.leaving() ? held || young : held;
    }

    private static Offer offer(
            PlannedDevice device, Look look, HealthBook health, Surroundings surroundings, FormerUse former) {
        Gpu gpu = device.known().gpu();
        String own = ownObjection(device, look, health, surroundings);
        own = own.isEmpty() ? former.objection(device) : own;
        String foreign = surroundings.overlay().objection(gpu.uuid());
        var reasons = new ArrayList<String>();
        if (!own.isEmpty()) {
            reasons.add(own);
        }
        if (!foreign.isEmpty()) {
            reasons.add("verdict: " + foreign);
        }
        return new Offer(
                device.id(),
                gpu,
                device.part(),
                device.resource(),
                device.replicas(),
                own.isEmpty(),
                foreign.isEmpty(),
                false,
                String.join("; ", reasons));
    }

    private static String ownObjection(PlannedDevice device, Look look, HealthBook health, Surroundings surroundings) {
        var fault = health.withdrawing(device.known().gpu().uuid());
        if (fault.isPresent()) {
            return Names.of(fault.get().key().fault());
        }
        return switch (look) {
            case Look.Blind(Look.DriverTrouble trouble, String reason) -> "driver " + trouble + ": " + reason;
            case Look.Seen _ ->
                switch (device.known().presence()) {
                    case KnownGpu.Presence.Answering _ -> mpsObjection(device, surroundings);
                    case KnownGpu.Presence.Missing(long _, String reason, boolean _) -> "lost: " + reason;
                };
        };
    }

    private static String mpsObjection(PlannedDevice device, Surroundings surroundings) {
        String trouble = surroundings.mpsTrouble().getOrDefault(device.resource(), "");
        return device.replicas() == 1 || trouble.isEmpty() ? "" : "MPS: " + trouble;
    }

    /** One offer a GPU and resource: the fittest of its devices stands for all of them. */
    public List<Offer> perGpu() {
        var fittest = new LinkedHashMap<List<String>, Offer>();
        listed.values()
                .forEach(offer -> fittest.merge(
                        List.of(offer.gpu().uuid(), offer.resource()),
                        offer,
                        (a, b) -> b.healthy() && !a.healthy() || a.leaving() && !b.leaving() ? b : a));
        return List.copyOf(fittest.values());
    }

    /** What is to be told of GPUs that was not told before. */
    public List<Offer> changedSince(Offers before) {
        List<Offer> told = before.perGpu();
        return perGpu().stream()
                .filter(offer -> told.stream().noneMatch(offer::sameWordAs))
                .toList();
    }

    /** The lists for the kubelet, by resource; empty ones are the caller's to remember. */
    public SortedMap<String, DeviceList> lists(long version) {
        var byResource = new TreeMap<String, List<Offer>>();
        listed.values()
                .forEach(offer -> byResource
                        .computeIfAbsent(offer.resource(), _ -> new ArrayList<>())
                        .add(offer));
        var lists = new TreeMap<String, DeviceList>();
        byResource.forEach((resource, offers) -> lists.put(resource, new DeviceList(version, offers)));
        return lists;
    }
}
