package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Allocations under earlier settings: a GPU that is held under an earlier id must not be allocated again under a new id, unless
 * it is shared before and after.
 */
final class PriorAllocations {
    private final Map<String, String> resourceById;
    private final Set<String> movingIds;
    private final Set<String> heldBefore;

    private PriorAllocations(Map<String, String> resourceById, Set<String> moving, Set<String> heldBefore) {
        this.resourceById = resourceById;
        this.movingIds = moving;
        this.heldBefore = heldBefore;
    }

    /** Collects the listed and the held devices that the plan no longer has. */
    static PriorAllocations of(List<PlannedDevice> plan, Collection<OfferedDevice> listed, Set<String> heldIds) {
        Map<String, String> resourceById =
                plan.stream().collect(Collectors.toMap(PlannedDevice::id, PlannedDevice::resource, (a, _) -> a));
        Set<String> moving = listed.stream()
                .filter(offer -> resourceById.containsKey(offer.id())
                        && !offer.resource().equals(resourceById.get(offer.id())))
                .map(OfferedDevice::id)
                .collect(Collectors.toCollection(HashSet::new));
        Set<String> heldBefore = heldIds.stream()
                .filter(id -> !resourceById.containsKey(id))
                .collect(Collectors.toCollection(TreeSet::new));
        return new PriorAllocations(resourceById, moving, heldBefore);
    }

    /** Whether the plan has a device with the id in any resource. */
    boolean planned(OfferedDevice offer) {
        return resourceById.containsKey(offer.id());
    }

    /** Whether the plan has the device in the same resource. */
    boolean keepsResource(OfferedDevice offer) {
        return offer.resource().equals(resourceById.get(offer.id()));
    }

    /** Returns why a planned device must not be offered yet; empty when it may. */
    String blockedReason(PlannedDevice device) {
        if (movingIds.contains(device.id())) {
            return "still listed in another resource; offered in this one after it left the other";
        }
        return heldBefore.stream()
                .filter(id -> conflicts(id, device))
                .findFirst()
                .map(id -> "held as " + id + " under other settings; offered when its holder has ended")
                .orElse("");
    }

    private static boolean conflicts(String heldId, PlannedDevice device) {
        String uuid = Holdings.withoutReplica(heldId);
        boolean shared = !uuid.equals(heldId);
        return (!shared || device.replicas() == 1) && overlaps(uuid, device);
    }

    private static boolean overlaps(String uuid, PlannedDevice device) {
        Gpu gpu = device.known().gpu();
        return switch (device.partition()) {
            case GpuPartition.FullGpu _ ->
                uuid.equals(gpu.uuid()) || gpu.instances().stream().anyMatch(instance -> uuid.equals(instance.uuid()));
            case GpuPartition.Mig(MigInstance instance) -> uuid.equals(gpu.uuid()) || uuid.equals(instance.uuid());
        };
    }
}
