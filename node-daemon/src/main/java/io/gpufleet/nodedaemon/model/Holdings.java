package io.gpufleet.nodedaemon.model;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Who holds what on this node, all of it.
 *
 * @param holders every container that holds a device
 * @param complete false right after the start of a kubelet, when it does not know its pods yet
 */
public record Holdings(List<Holder> holders, boolean complete) {
    /** Nobody was asked yet. */
    public static final Holdings UNKNOWN = new Holdings(List.of(), false);

    /** Copies the list. */
    public Holdings {
        holders = List.copyOf(holders);
    }

    /** Holders of any of the parts, given by UUID, or of shares of them. */
    public List<Holder> of(Set<String> partUuids) {
        return holders.stream()
                .filter(holder ->
                        holder.deviceIds().stream().map(Holdings::withoutShare).anyMatch(partUuids::contains))
                .toList();
    }

    /** The UUID in an id, which for a share ends in its number. */
    static String withoutShare(String deviceId) {
        int mark = deviceId.indexOf("::");
        return mark < 0 ? deviceId : deviceId.substring(0, mark);
    }

    /** The same with UUIDs where NVIDIA's DRA driver tells its own names of GPUs and MIG devices that are known. */
    public Holdings placed(List<KnownGpu> gpus) {
        if (holders.stream().noneMatch(holder -> holder.resource().equals(Holder.DRA_DRIVER))) {
            return this;
        }
        var names = new ClaimNames(gpus.stream().map(KnownGpu::gpu).toList());
        return new Holdings(
                holders.stream()
                        .map(holder -> holder.resource().equals(Holder.DRA_DRIVER)
                                ? holder.having(holder.deviceIds().stream()
                                        .map(names::uuid)
                                        .toList())
                                : holder)
                        .toList(),
                complete);
    }

    /** Every device that somebody holds. */
    public Set<String> heldIds() {
        return holders.stream().flatMap(h -> h.deviceIds().stream()).collect(Collectors.toSet());
    }
}
