package io.gpufleet.nodedaemon.model.holders;

import io.gpufleet.nodedaemon.model.device.KnownGpu;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * All containers of this node that hold devices.
 *
 * @param holders containers with devices
 * @param complete false right after the start of a kubelet, which does not know its pods yet
 */
public record Holdings(List<Holder> holders, boolean complete) {
    /** The kubelet was not read yet. */
    public static final Holdings UNKNOWN = new Holdings(List.of(), false);

    /** Copies the list. */
    public Holdings {
        holders = List.copyOf(holders);
    }

    /** Returns the holders of any of the devices, given by UUID, or of replicas of them. */
    public List<Holder> of(Set<String> partitionUuids) {
        return holders.stream()
                .filter(holder -> holder.deviceIds().stream()
                        .map(Holdings::withoutReplica)
                        .anyMatch(partitionUuids::contains))
                .toList();
    }

    /** Returns the UUID in an id; the id of a replica ends in its number. */
    public static String withoutReplica(String deviceId) {
        int separator = deviceId.indexOf("::");
        return separator < 0 ? deviceId : deviceId.substring(0, separator);
    }

    /** Returns the same holders with UUIDs in place of the DRA driver's names of known devices. */
    public Holdings withClaimsResolved(List<KnownGpu> gpus) {
        if (holders.stream().noneMatch(holder -> holder.resource().equals(Holder.DRA_DRIVER))) {
            return this;
        }
        var names = new DraDeviceNames(gpus.stream().map(KnownGpu::gpu).toList());
        return new Holdings(
                holders.stream()
                        .map(holder -> holder.resource().equals(Holder.DRA_DRIVER)
                                ? holder.withDeviceIds(holder.deviceIds().stream()
                                        .map(names::uuid)
                                        .toList())
                                : holder)
                        .toList(),
                complete);
    }

    /** Returns the ids of all held devices. */
    public Set<String> heldIds() {
        return holders.stream().flatMap(h -> h.deviceIds().stream()).collect(Collectors.toSet());
    }
}
