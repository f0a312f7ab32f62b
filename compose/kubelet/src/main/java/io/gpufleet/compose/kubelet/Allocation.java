package io.gpufleet.compose.kubelet;

import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import java.util.List;

/**
 * Devices that a container holds.
 *
 * @param pod the pod
 * @param container name of the container
 * @param resource extended resource name
 * @param deviceIds ids as the plugin named them, sorted
 * @param response what the plugin said the container needs
 */
public record Allocation(
        PodKey pod, String container, String resource, List<String> deviceIds, ContainerAllocateResponse response) {
    /** Keeps its own copy of the ids. */
    public Allocation {
        deviceIds = List.copyOf(deviceIds);
    }
}
