package io.gpufleet.health.model.drain;

import io.gpufleet.health.model.drain.PodOnNode.PodName;
import java.util.List;

/**
 * Pods that hold devices of a node, as its daemon reports them.
 *
 * @param complete false before the daemon compared its list with the kubelet's
 * @param holders in the order of the report
 */
public record Holdings(boolean complete, List<Holder> holders) {
    /** The daemon has not reported yet. */
    public static final Holdings UNKNOWN = new Holdings(false, List.of());

    /** Copies the list. */
    public Holdings {
        holders = List.copyOf(holders);
    }

    /**
     * A pod with devices.
     *
     * @param devices UUIDs of GPUs or MIG devices
     */
    public record Holder(PodName pod, List<String> devices) {
        /** Copies the list. */
        public Holder {
            devices = List.copyOf(devices);
        }
    }

    /** True when a pod holds one of these GPUs, or a MIG device, which may be on any of them. */
    public boolean heldByAny(List<String> gpus) {
        return holders.stream()
                .flatMap(holder -> holder.devices().stream())
                .anyMatch(device -> gpus.contains(device) || device.startsWith("MIG-"));
    }

    /** True when the pod holds a device. */
    boolean holdsAny(PodName pod) {
        return holders.stream().anyMatch(holder -> holder.pod().matches(pod));
    }

    /** True when the pod holds one of these GPUs; a MIG device is named by itself, and may be on any of them. */
    boolean holds(PodName pod, List<String> gpus) {
        return holders.stream()
                .filter(holder -> holder.pod().matches(pod))
                .flatMap(holder -> holder.devices().stream())
                .anyMatch(device -> gpus.contains(device) || device.startsWith("MIG-"));
    }
}
