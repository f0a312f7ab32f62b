package io.gpufleet.inventory.model;

import java.util.List;
import java.util.Set;

/** One container that holds devices, by the device ids of the kubelet. */
public record Holder(String namespace, String pod, String container, List<String> deviceIds) {
    /** Copies the list. */
    public Holder {
        deviceIds = List.copyOf(deviceIds);
    }

    /** Whether it holds the GPU: by its UUID, by a replica {@code <uuid>::<n>}, or by one of its MIG instances. */
    public boolean holds(Gpu gpu) {
        Set<String> ids = Set.copyOf(gpu.deviceIds());
        return deviceIds.stream().anyMatch(id -> ids.contains(id.split("::", 2)[0]));
    }
}
