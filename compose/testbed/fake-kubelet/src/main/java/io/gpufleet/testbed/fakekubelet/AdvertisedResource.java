package io.gpufleet.testbed.fakekubelet;

import java.util.List;

/**
 * One resource at one instant.
 *
 * @param name extended resource name
 * @param connected true while the plugin's ListAndWatch stream is open
 * @param devices all devices, sorted by id
 * @param allocated ids of allocated devices
 */
public record AdvertisedResource(String name, boolean connected, List<Device> devices, List<String> allocated) {
    /**
     * One device.
     *
     * @param id id from the plugin
     * @param healthy true when it may be allocated; false for all once the stream ended
     * @param numa NUMA nodes of the device; empty when the plugin reports none
     */
    public record Device(String id, boolean healthy, List<Long> numa) {
        /** Keeps its own copy of the list. */
        public Device {
            numa = List.copyOf(numa);
        }
    }

    /** Keeps its own copies of the lists. */
    public AdvertisedResource {
        devices = List.copyOf(devices);
        allocated = List.copyOf(allocated);
    }

    /** Capacity of the Node: all devices, also the unhealthy ones. */
    public int capacity() {
        return devices.size();
    }

    /** Allocatable of the Node: the healthy devices, allocated or not. */
    public int allocatable() {
        return (int) devices.stream().filter(Device::healthy).count();
    }
}
