package io.gpufleet.nodedaemon.model;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the kubelet is told, and since when a device is Unhealthy: a device leaves in two steps, because a kubelet still
 * dereferences its list after Allocate.
 *
 * @param listed every device in the list, by id
 * @param unhealthySince monotonic clock, for those that are Unhealthy
 */
public record Offers(Map<String, Offer> listed, Map<String, Long> unhealthySince) {
    /** How long a device is listed Unhealthy at least before it may leave the list. */
    public static final Duration BEFORE_LEAVING = Duration.ofSeconds(60);

    /** Nothing is listed. */
    public static final Offers NONE = new Offers(Map.of(), Map.of());

    /** Resource name of whole GPUs. */
    public static final String RESOURCE = "nvidia.com/gpu";

    /** Keeps the order. */
    public Offers {
        listed = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(listed));
        unhealthySince = Map.copyOf(unhealthySince);
    }

    /** What is to be told now. */
    public Offers next(DeviceBook devices, HealthBook health, Overlay overlay, Set<String> heldIds, Moment now) {
        var nextListed = new LinkedHashMap<String, Offer>();
        var nextSince = new LinkedHashMap<String, Long>();
        for (KnownGpu known : devices.gpus()) {
            Offer offer = offer(known, devices.lastLook(), health, overlay);
            long since = unhealthySince.getOrDefault(offer.id(), now.nanos());
            if (!offer.healthy()) {
                nextSince.put(offer.id(), since);
            }
            if (!mayLeave(known, offer, now.since(since), heldIds)) {
                nextListed.put(offer.id(), offer);
            }
        }
        return new Offers(nextListed, nextSince);
    }

    private boolean mayLeave(KnownGpu known, Offer offer, Duration unhealthy, Set<String> heldIds) {
        boolean placeIsGone =
                known.presence() instanceof KnownGpu.Presence.Missing(long _, String _, boolean placeIsThere)
                        && !placeIsThere;
        boolean wasNeverListed = !listed.containsKey(offer.id());
        return placeIsGone
                && !heldIds.contains(offer.id())
                && (wasNeverListed || unhealthy.compareTo(BEFORE_LEAVING) >= 0);
    }

    private static Offer offer(KnownGpu known, Look look, HealthBook health, Overlay overlay) {
        Gpu gpu = known.gpu();
        String own = ownObjection(known, look, health);
        String foreign = overlay.objection(gpu.uuid());
        var reasons = new ArrayList<String>();
        if (!own.isEmpty()) {
            reasons.add(own);
        }
        if (!foreign.isEmpty()) {
            reasons.add("verdict: " + foreign);
        }
        return new Offer(gpu.uuid(), gpu, RESOURCE, own.isEmpty(), foreign.isEmpty(), String.join("; ", reasons));
    }

    private static String ownObjection(KnownGpu known, Look look, HealthBook health) {
        var fault = health.withdrawing(known.gpu().uuid());
        if (fault.isPresent()) {
            return Names.of(fault.get().key().fault());
        }
        return switch (look) {
            case Look.Blind(Look.DriverTrouble trouble, String reason) -> "driver " + trouble + ": " + reason;
            case Look.Seen _ ->
                switch (known.presence()) {
                    case KnownGpu.Presence.Answering _ -> "";
                    case KnownGpu.Presence.Missing(long _, String reason, boolean _) -> "lost: " + reason;
                };
        };
    }

    /** The offers that are other than they were. */
    public List<Offer> changedSince(Offers before) {
        return listed.values().stream()
                .filter(offer -> !offer.equals(before.listed.get(offer.id())))
                .toList();
    }

    /** The list for the kubelet. */
    public DeviceList list(long version) {
        return new DeviceList(version, List.copyOf(listed.values()));
    }
}
