package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.fault.FaultNames;
import io.gpufleet.nodedaemon.model.fault.OpenFaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The devices that are reported to the kubelet. A device leaves the list in two steps, Unhealthy first, because a kubelet
 * still dereferences its list after Allocate.
 *
 * @param listed every device in the list, by id; one that leaves a resource while another has its id, by resource and id
 * @param unhealthySince since when a device is Unhealthy, by the monotonic clock
 */
public record OfferedDevices(Map<String, OfferedDevice> listed, Map<String, Long> unhealthySince) {
    /** Minimum time for which a device is listed Unhealthy before it may leave the list. */
    public static final Duration MIN_UNHEALTHY_DURATION = Duration.ofSeconds(60);

    /** No devices. */
    public static final OfferedDevices NONE = new OfferedDevices(Map.of(), Map.of());

    /** Keeps the order. */
    public OfferedDevices {
        listed = Collections.unmodifiableMap(new LinkedHashMap<>(listed));
        unhealthySince = Map.copyOf(unhealthySince);
    }

    /** Returns the devices to report for a plan, including those that have left it but must stay listed. */
    public OfferedDevices next(
            List<PlannedDevice> plan,
            DeviceScan lastScan,
            OpenFaults health,
            OfferConstraints constraints,
            Moment now) {
        var prior = PriorAllocations.of(plan, listed.values(), constraints.heldIds());
        var desired = new LinkedHashMap<String, OfferedDevice>();
        var gone = new LinkedHashMap<String, OfferedDevice>();
        for (PlannedDevice device : plan) {
            OfferedDevice offer = offer(device, lastScan, health, constraints, prior);
            (isRemoved(device.known()) ? gone : desired).put(offer.id(), offer);
        }
        listed.values().stream()
                .filter(offer -> !prior.keepsResource(offer))
                .forEach(offer -> gone.put(
                        prior.planned(offer) ? offer.resource() + " " + offer.id() : offer.id(),
                        offer.leaving("removed: node no longer has this device, or offers it under another id")));
        var nextListed = new LinkedHashMap<>(desired);
        var nextSince = new LinkedHashMap<String, Long>();
        desired.forEach((key, offer) -> {
            if (!offer.healthy()) {
                nextSince.put(key, since(key, now));
            }
        });
        gone.forEach((key, offer) -> {
            if (mustStay(key, offer, constraints, now)) {
                nextListed.put(key, offer);
                nextSince.put(key, since(key, now));
            }
        });
        return new OfferedDevices(nextListed, nextSince);
    }

    private static boolean isRemoved(KnownGpu known) {
        return known.presence() instanceof KnownGpu.Presence.Missing(long _, String _, boolean addressInUse)
                && !addressInUse;
    }

    private long since(String key, Moment now) {
        return unhealthySince.getOrDefault(key, now.nanos());
    }

    private boolean mustStay(String key, OfferedDevice offer, OfferConstraints constraints, Moment now) {
        boolean held = constraints.heldIds().contains(offer.id());
        boolean young = now.since(since(key, now)).compareTo(MIN_UNHEALTHY_DURATION) < 0;
        return listed.containsKey(key) || offer.health().leaving() ? held || young : held;
    }

    private static OfferedDevice offer(
            PlannedDevice device,
            DeviceScan scan,
            OpenFaults health,
            OfferConstraints constraints,
            PriorAllocations prior) {
        Gpu gpu = device.known().gpu();
        String own = localReason(device, scan, health, constraints);
        own = own.isEmpty() ? prior.blockedReason(device) : own;
        String foreign = constraints.overlay().untrustedReason(gpu.uuid());
        var reasons = new ArrayList<String>();
        if (!own.isEmpty()) {
            reasons.add(own);
        }
        if (!foreign.isEmpty()) {
            reasons.add("verdict: " + foreign);
        }
        return new OfferedDevice(
                device.id(),
                gpu,
                device.partition(),
                device.resource(),
                device.replicas(),
                new OfferedDevice.Health(own.isEmpty(), foreign.isEmpty(), false, String.join("; ", reasons)));
    }

    private static String localReason(
            PlannedDevice device, DeviceScan scan, OpenFaults health, OfferConstraints constraints) {
        var fault = health.withdrawing(device.known().gpu().uuid());
        if (fault.isPresent()) {
            return FaultNames.of(fault.get().key().fault());
        }
        return switch (scan) {
            case DeviceScan.ScanFailed(DeviceScan.DriverProblem problem, String reason) ->
                "driver " + problem + ": " + reason;
            case DeviceScan.ScanSucceeded _ ->
                switch (device.known().presence()) {
                    case KnownGpu.Presence.Answering _ -> hostReason(device, constraints);
                    case KnownGpu.Presence.Missing(long _, String reason, boolean _) -> "lost: " + reason;
                };
        };
    }

    /** A container without a node that CUDA needs would start, and fail in its own way. */
    private static String hostReason(PlannedDevice device, OfferConstraints constraints) {
        List<String> needed = new ArrayList<>(List.of("/dev/nvidia-uvm"));
        needed.addAll(HostDeviceNodes.of(device.known().gpu(), device.partition()));
        return needed.stream()
                .filter(constraints.missingNodes()::containsKey)
                .findFirst()
                .map(node -> node + " is missing: " + constraints.missingNodes().get(node))
                .orElseGet(() -> mpsReason(device, constraints));
    }

    private static String mpsReason(PlannedDevice device, OfferConstraints constraints) {
        String problem = constraints.mpsProblems().getOrDefault(device.resource(), "");
        return device.replicas() == 1 || problem.isEmpty() ? "" : "MPS: " + problem;
    }

    /** Returns one device per GPU and resource; the healthiest represents the others. */
    public List<OfferedDevice> perGpu() {
        var healthiest = new LinkedHashMap<List<String>, OfferedDevice>();
        listed.values()
                .forEach(offer -> healthiest.merge(
                        List.of(offer.gpu().uuid(), offer.resource()),
                        offer,
                        (a, b) -> b.healthy() && !a.healthy()
                                        || a.health().leaving() && !b.health().leaving()
                                ? b
                                : a));
        return List.copyOf(healthiest.values());
    }

    /** Returns one device for each GPU and resource whose health changed. */
    public List<OfferedDevice> changedSince(OfferedDevices before) {
        List<OfferedDevice> reported = before.perGpu();
        return perGpu().stream()
                .filter(offer -> reported.stream().noneMatch(offer::sameStateAs))
                .toList();
    }

    /** Returns the device lists for the kubelet, by resource; a resource without devices is missing. */
    public SortedMap<String, DeviceList> lists(long version) {
        var byResource = new TreeMap<String, List<OfferedDevice>>();
        listed.values()
                .forEach(offer -> byResource
                        .computeIfAbsent(offer.resource(), _ -> new ArrayList<>())
                        .add(offer));
        var lists = new TreeMap<String, DeviceList>();
        byResource.forEach((resource, offers) -> lists.put(resource, new DeviceList(version, offers)));
        return lists;
    }
}
