package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.ContainerAllocation;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.DeviceNode;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collects the allocation of one container; entries that several injections add are kept once. */
final class ContainerAllocationBuilder {
    final Map<String, String> environment = new HashMap<>();
    final Set<Mount> mounts = new LinkedHashSet<>();
    final Set<DeviceNode> nodes = new LinkedHashSet<>();
    final Map<String, String> annotations = new HashMap<>();
    final Set<String> cdiDevices = new LinkedHashSet<>();

    ContainerAllocation build() {
        return new ContainerAllocation(
                environment, new ArrayList<>(mounts), new ArrayList<>(nodes), annotations, List.copyOf(cdiDevices));
    }
}
