package io.gpufleet.testbed.fakekubelet;

import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import java.util.List;

/**
 * Devices that a container holds.
 *
 * @param pod the pod
 * @param container name of the container
 * @param resource extended resource name
 * @param deviceIds ids from the plugin, sorted
 * @param response the plugin's Allocate response
 */
public record DeviceAllocation(
        PodKey pod, String container, String resource, List<String> deviceIds, ContainerAllocateResponse response) {
    /** Keeps its own copy of the ids. */
    public DeviceAllocation {
        deviceIds = List.copyOf(deviceIds);
    }
}
