package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import java.util.List;

/**
 * Files of the driver on the host for containers that get it by mounts.
 *
 * @param vulkan the Vulkan ICD file; empty when the driver has none
 * @param files its libraries and programs one by one, where its root is the host's own, which no container may get
 */
public record HostDriver(String vulkan, List<Mount> files) {
    /** Not found, or not looked for. */
    public static final HostDriver NONE = new HostDriver("", List.of());

    /** Copies the list. */
    public HostDriver {
        files = List.copyOf(files);
    }

    /** Makes a driver of which only the Vulkan ICD file is known. */
    public static HostDriver ofVulkan(String file) {
        return new HostDriver(file, List.of());
    }
}
