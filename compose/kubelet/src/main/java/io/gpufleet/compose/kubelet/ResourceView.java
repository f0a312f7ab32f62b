package io.gpufleet.compose.kubelet;

import java.util.List;

/**
 * One resource at one instant.
 *
 * @param name extended resource name
 * @param connected whether the plugin's ListAndWatch stream is open
 * @param devices all devices, sorted by id
 * @param allocated ids that containers hold
 */
public record ResourceView(String name, boolean connected, List<Device> devices, List<String> allocated) {
    /**
     * One device.
     *
     * @param id as the plugin named it
     * @param healthy whether it may be handed out; false for all once the stream ended
     * @param numa NUMA nodes near it; empty when the plugin says nothing of it
     */
    public record Device(String id, boolean healthy, List<Long> numa) {
        /** Keeps its own copy of the list. */
        public Device {
            numa = List.copyOf(numa);
        }
    }

    /** Keeps its own copies of the lists. */
    public ResourceView {
        devices = List.copyOf(devices);
        allocated = List.copyOf(allocated);
    }

    /** What the Node's capacity says: all devices, also the unhealthy ones. */
    public int capacity() {
        return devices.size();
    }

    /** What the Node's allocatable says: the healthy devices, held or not. */
    public int allocatable() {
        return (int) devices.stream().filter(Device::healthy).count();
    }
}
