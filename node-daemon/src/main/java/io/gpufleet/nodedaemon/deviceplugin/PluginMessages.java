package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.AllocationAnswer;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.Offer;
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

/** From the model's words to the kubelet's. */
final class PluginMessages {
    private PluginMessages() {}

    static ListAndWatchResponse list(DeviceList list) {
        var response = ListAndWatchResponse.newBuilder();
        list.devices().forEach(offer -> response.addDevices(device(offer)));
        return response.build();
    }

    private static Device device(Offer offer) {
        var device = Device.newBuilder().setID(offer.id()).setHealth(offer.healthy() ? "Healthy" : "Unhealthy");
        offer.gpu()
                .numaNode()
                .asOptional()
                .filter(node -> node >= 0)
                .ifPresent(node -> device.setTopology(
                        TopologyInfo.newBuilder().addNodes(NUMANode.newBuilder().setID(node))));
        return device.build();
    }

    static AllocateResponse granted(AllocationAnswer.Granted granted) {
        var response = AllocateResponse.newBuilder();
        granted.containers().forEach(grant -> response.addContainerResponses(container(grant)));
        return response.build();
    }

    private static ContainerAllocateResponse container(AllocationAnswer.Grant grant) {
        var container = ContainerAllocateResponse.newBuilder().putAllEnvs(grant.environment());
        grant.mounts()
                .forEach(mount -> container.addMounts(Mount.newBuilder()
                        .setContainerPath(mount.containerPath())
                        .setHostPath(mount.hostPath())
                        .setReadOnly(mount.readOnly())));
        grant.deviceNodes()
                .forEach(node -> container.addDevices(DeviceSpec.newBuilder()
                        .setContainerPath(node.path())
                        .setHostPath(node.hostPath())
                        .setPermissions(node.permissions())));
        container.putAllAnnotations(grant.annotations());
        grant.cdiDevices()
                .forEach(name -> container.addCdiDevices(CDIDevice.newBuilder().setName(name)));
        return container.build();
    }

    static GrpcStatus status(AllocationAnswer.Refusal refusal) {
        return switch (refusal) {
            case INVALID_ARGUMENT -> GrpcStatus.INVALID_ARGUMENT;
            case FAILED_PRECONDITION -> GrpcStatus.FAILED_PRECONDITION;
        };
    }
}
