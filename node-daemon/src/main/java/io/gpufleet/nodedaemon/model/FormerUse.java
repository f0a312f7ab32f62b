package io.gpufleet.nodedaemon.model;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What other settings left behind: a GPU that somebody holds under an id of before must not be handed out a second time
 * under an id of now, unless it is shared before and after.
 */
final class FormerUse {
    private final Map<String, String> resourceById;
    private final Set<String> moving;
    private final Set<String> heldBefore;

    private FormerUse(Map<String, String> resourceById, Set<String> moving, Set<String> heldBefore) {
        this.resourceById = resourceById;
        this.moving = moving;
        this.heldBefore = heldBefore;
    }

    /** What of the list and of what is held does not stand in the plan. */
    static FormerUse of(List<PlannedDevice> plan, Collection<Offer> listed, Set<String> heldIds) {
        Map<String, String> resourceById =
                plan.stream().collect(Collectors.toMap(PlannedDevice::id, PlannedDevice::resource, (a, _) -> a));
        Set<String> moving = listed.stream()
                .filter(offer -> resourceById.containsKey(offer.id())
                        && !offer.resource().equals(resourceById.get(offer.id())))
                .map(Offer::id)
                .collect(Collectors.toCollection(HashSet::new));
        Set<String> heldBefore = heldIds.stream()
                .filter(id -> !resourceById.containsKey(id))
                .collect(Collectors.toCollection(TreeSet::new));
        return new FormerUse(resourceById, moving, heldBefore);
    }

    /** Whether the plan has a device of the id, in whichever resource. */
    boolean planned(Offer offer) {
        return resourceById.containsKey(offer.id());
    }

    /** Whether the plan has the device in the same resource. */
    boolean stays(Offer offer) {
        return offer.resource().equals(resourceById.get(offer.id()));
    }

    /** Why a planned device has to wait; empty when nobody is in its way. */
    String objection(PlannedDevice device) {
        if (moving.contains(device.id())) {
            return "still listed in another resource; offered in this one when it has left that";
        }
        return heldBefore.stream()
                .filter(id -> inTheWay(id, device))
                .findFirst()
                .map(id -> "held as " + id + " under other settings; offered when its holder has ended")
                .orElse("");
    }

    private static boolean inTheWay(String heldId, PlannedDevice device) {
        String uuid = Holdings.withoutShare(heldId);
        boolean shared = !uuid.equals(heldId);
        return (!shared || device.replicas() == 1) && overlaps(uuid, device);
    }

    private static boolean overlaps(String uuid, PlannedDevice device) {
        Gpu gpu = device.known().gpu();
        return switch (device.part()) {
            case Part.Whole _ ->
                uuid.equals(gpu.uuid()) || gpu.instances().stream().anyMatch(instance -> uuid.equals(instance.uuid()));
            case Part.Slice(MigInstance instance) -> uuid.equals(gpu.uuid()) || uuid.equals(instance.uuid());
        };
    }
}
