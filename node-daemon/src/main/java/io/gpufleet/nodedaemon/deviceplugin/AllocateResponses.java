package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.CDIDevice;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.DeviceSpec;
import io.gpufleet.proto.kubelet.deviceplugin.Mount;
import java.util.IdentityHashMap;
import java.util.Map;

/** Responses to Allocate, of messages that are kept for the allocations of one table. Used by one thread. */
final class AllocateResponses {
    private static final int MAX_KEPT = 256;

    /** By identity: an allocation table returns the same object for the same devices. */
    private final Map<AllocationResult.ContainerAllocation, ContainerAllocateResponse> kept = new IdentityHashMap<>();

    AllocateResponse response(AllocationResult.Accepted accepted) {
        var response = AllocateResponse.newBuilder();
        accepted.containers().forEach(allocation -> response.addContainerResponses(container(allocation)));
        return response.build();
    }

    private ContainerAllocateResponse container(AllocationResult.ContainerAllocation allocation) {
        ContainerAllocateResponse known = kept.get(allocation);
        if (known != null) {
            return known;
        }
        if (kept.size() >= MAX_KEPT) {
            // Those of earlier tables, which are never asked for again.
            kept.clear();
        }
        ContainerAllocateResponse made = containerResponse(allocation);
        kept.put(allocation, made);
        return made;
    }

    private static ContainerAllocateResponse containerResponse(AllocationResult.ContainerAllocation allocation) {
        var container = ContainerAllocateResponse.newBuilder().putAllEnvs(allocation.environment());
        allocation
                .mounts()
                .forEach(mount -> container.addMounts(Mount.newBuilder()
                        .setContainerPath(mount.containerPath())
                        .setHostPath(mount.hostPath())
                        .setReadOnly(mount.readOnly())));
        allocation
                .deviceNodes()
                .forEach(node -> container.addDevices(DeviceSpec.newBuilder()
                        .setContainerPath(node.path())
                        .setHostPath(node.hostPath())
                        .setPermissions(node.permissions())));
        container.putAllAnnotations(allocation.annotations());
        allocation
                .cdiDevices()
                .forEach(name -> container.addCdiDevices(CDIDevice.newBuilder().setName(name)));
        return container.build();
    }
}
