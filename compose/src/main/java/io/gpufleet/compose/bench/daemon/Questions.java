package io.gpufleet.compose.bench.daemon;

import com.google.protobuf.Message;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerPreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.Device;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import java.nio.file.Path;
import java.util.List;

/** What a kubelet asks a plugin on its socket, about the devices that it was shown. */
record Questions(Path socket, List<String> ids) {
    private static final String SERVICE = "/v1beta1.DevicePlugin/";

    /** Copies the ids. */
    Questions {
        ids = List.copyOf(ids);
    }

    static Questions to(BenchKubelet kubelet, BenchKubelet.Shown shown) {
        return new Questions(
                kubelet.plugin(),
                shown.list().getDevicesList().stream()
                        .map(Device::getID)
                        .sorted()
                        .toList());
    }

    /** A call that asks for nothing: what transport and gRPC cost. */
    Load nothing() {
        return new Load(socket, PluginLine.method(SERVICE + "GetDevicePluginOptions"), new byte[0]);
    }

    /** One container that gets every device. */
    Load allocate() {
        return load(
                "Allocate",
                AllocateRequest.newBuilder()
                        .addContainerRequests(
                                ContainerAllocateRequest.newBuilder().addAllDevicesIds(ids))
                        .build());
    }

    /** Half of the devices for one container, all of them free. */
    Load preferHalf() {
        return load(
                "GetPreferredAllocation",
                PreferredAllocationRequest.newBuilder()
                        .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                                .addAllAvailableDeviceIDs(ids)
                                .setAllocationSize(ids.size() / 2))
                        .build());
    }

    private Load load(String method, Message message) {
        return new Load(socket, PluginLine.method(SERVICE + method), message.toByteArray());
    }
}
