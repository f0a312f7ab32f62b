package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.CDIDevice;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.Device;
import io.gpufleet.proto.kubelet.deviceplugin.DeviceSpec;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.gpufleet.proto.kubelet.deviceplugin.Mount;
import io.gpufleet.proto.kubelet.deviceplugin.NUMANode;
import io.gpufleet.proto.kubelet.deviceplugin.TopologyInfo;
import io.vertx.grpc.common.GrpcStatus;

/** Maps the model to messages of the device plugin API. */
final class DevicePluginMessages {
    private DevicePluginMessages() {}

    static ListAndWatchResponse list(DeviceList list) {
        var response = ListAndWatchResponse.newBuilder();
        list.devices().forEach(offer -> response.addDevices(device(offer)));
        return response.build();
    }

    private static Device device(OfferedDevice offer) {
        var device = Device.newBuilder().setID(offer.id()).setHealth(offer.healthy() ? "Healthy" : "Unhealthy");
        offer.gpu()
                .topology()
                .numaNode()
                .asOptional()
                .filter(node -> node >= 0)
                .ifPresent(node -> device.setTopology(
                        TopologyInfo.newBuilder().addNodes(NUMANode.newBuilder().setID(node))));
        return device.build();
    }

    static AllocateResponse allocateResponse(AllocationResult.Accepted accepted) {
        var response = AllocateResponse.newBuilder();
        accepted.containers().forEach(allocation -> response.addContainerResponses(containerResponse(allocation)));
        return response.build();
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

    static GrpcStatus status(AllocationResult.RefusalCode refusal) {
        return switch (refusal) {
            case INVALID_ARGUMENT -> GrpcStatus.INVALID_ARGUMENT;
            case FAILED_PRECONDITION -> GrpcStatus.FAILED_PRECONDITION;
        };
    }
}
