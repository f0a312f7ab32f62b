package io.gpufleet.bench.daemon;

import com.google.protobuf.Message;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerPreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.Device;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import java.nio.file.Path;
import java.util.List;

/** Calls of a kubelet to a plugin, about the devices of its list. */
record PluginRequests(Path socket, List<String> ids) {
    private static final String SERVICE = "/v1beta1.DevicePlugin/";

    /** Copies the ids. */
    PluginRequests {
        ids = List.copyOf(ids);
    }

    static PluginRequests of(BenchKubelet kubelet, BenchKubelet.ReceivedDevices shown) {
        return new PluginRequests(
                kubelet.plugin(),
                shown.list().getDevicesList().stream()
                        .map(Device::getID)
                        .sorted()
                        .toList());
    }

    /** GetDevicePluginOptions: the cost of transport and gRPC. */
    LoadGenerator getOptions() {
        return new LoadGenerator(socket, RawGrpcClient.requestHeaders(SERVICE + "GetDevicePluginOptions"), new byte[0]);
    }

    /** Allocate of every device to one container. */
    LoadGenerator allocate() {
        return load(
                "Allocate",
                AllocateRequest.newBuilder()
                        .addContainerRequests(
                                ContainerAllocateRequest.newBuilder().addAllDevicesIds(ids))
                        .build());
    }

    /** GetPreferredAllocation of half of the devices, all free. */
    LoadGenerator preferredAllocation() {
        return load(
                "GetPreferredAllocation",
                PreferredAllocationRequest.newBuilder()
                        .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                                .addAllAvailableDeviceIDs(ids)
                                .setAllocationSize(ids.size() / 2))
                        .build());
    }

    private LoadGenerator load(String method, Message message) {
        return new LoadGenerator(socket, RawGrpcClient.requestHeaders(SERVICE + method), message.toByteArray());
    }
}
