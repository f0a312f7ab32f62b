package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.proto.kubelet.deviceplugin.Device;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
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

    static GrpcStatus status(AllocationResult.RefusalCode refusal) {
        return switch (refusal) {
            case INVALID_ARGUMENT -> GrpcStatus.INVALID_ARGUMENT;
            case FAILED_PRECONDITION -> GrpcStatus.FAILED_PRECONDITION;
        };
    }
}
