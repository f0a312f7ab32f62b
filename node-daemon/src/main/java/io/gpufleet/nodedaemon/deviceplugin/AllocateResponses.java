package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.CDIDevice;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.DeviceSpec;
import io.gpufleet.proto.kubelet.deviceplugin.Mount;
import java.io.ByteArrayOutputStream;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Responses to Allocate, of pieces that are kept serialised for the allocations of one table. Used by one thread. */
final class AllocateResponses {
    private static final int MAX_KEPT = 256;

    /** By identity: an allocation table returns the same object for the same devices. */
    private final Map<AllocationResult.ContainerAllocation, byte[]> kept = new IdentityHashMap<>();

    /** Returns the bytes of an AllocateResponse: messages of repeated fields can be put one after the other. */
    byte[] response(AllocationResult.Accepted accepted) {
        List<AllocationResult.ContainerAllocation> containers = accepted.containers();
        if (containers.size() == 1) {
            return piece(containers.getFirst());
        }
        var response = new ByteArrayOutputStream();
        containers.forEach(allocation -> response.writeBytes(piece(allocation)));
        return response.toByteArray();
    }

    private byte[] piece(AllocationResult.ContainerAllocation allocation) {
        byte[] known = kept.get(allocation);
        if (known != null) {
            return known;
        }
        if (kept.size() >= MAX_KEPT) {
            // Those of earlier tables, which are never asked for again.
            kept.clear();
        }
        byte[] made = AllocateResponse.newBuilder()
                .addContainerResponses(containerResponse(allocation))
                .build()
                .toByteArray();
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
