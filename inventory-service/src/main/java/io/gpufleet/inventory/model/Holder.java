package io.gpufleet.inventory.model;

import java.util.List;

/** One container that holds devices, by the ids that the kubelet knows. */
public record Holder(String namespace, String pod, String container, List<String> deviceIds) {
    /** Copies the list. */
    public Holder {
        deviceIds = List.copyOf(deviceIds);
    }
}
