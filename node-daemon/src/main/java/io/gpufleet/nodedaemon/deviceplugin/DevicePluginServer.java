package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.ResourceHandler;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.proto.kubelet.GrpcServerCall;
import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcServer;
import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerPreferredAllocationResponse;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerRequest;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationResponse;
import io.netty.channel.EventLoop;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Serves the device plugin API on a unix socket; every response comes from the {@link ResourceHandler}'s snapshot. */
final class DevicePluginServer {
    /** The only version of the API. */
    static final String VERSION = "v1beta1";

    private static final byte[] EMPTY = {};

    private final EventLoop loop;
    private final ResourceHandler resourceHandler;
    private final UnixGrpcServer grpc;
    private final AllocateResponses allocations = new AllocateResponses();
    private boolean collecting;

    DevicePluginServer(EventLoop loop, ResourceHandler resourceHandler, ListAndWatchStreams streams) {
        this.loop = loop;
        this.resourceHandler = resourceHandler;
        this.grpc = new UnixGrpcServer(loop);
        grpc.serve(
                KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS,
                (_, call) -> call.respond(options().toByteArray()));
        grpc.serve(KubeletMethods.LIST_AND_WATCH, (_, call) -> streams.accept(call));
        grpc.serve(KubeletMethods.ALLOCATE, DevicePluginServer::containers, this::allocate);
        grpc.serve(KubeletMethods.PRE_START_CONTAINER, this::preStart);
        grpc.serve(
                KubeletMethods.GET_PREFERRED_ALLOCATION,
                (request, call) -> call.respond(preferredAllocation(request).toByteArray()));
    }

    /** The gRPC server, to add further services on the same socket. */
    UnixGrpcServer grpc() {
        return grpc;
    }

    /** Listens on a socket that must not exist. */
    CompletionStage<ServedSocket> listen(Path socket) {
        return grpc.listen(socket);
    }

    private DevicePluginOptions options() {
        return DevicePluginOptions.newBuilder()
                .setPreStartRequired(resourceHandler.preStart())
                .setGetPreferredAllocationAvailable(true)
                .build();
    }

    private static List<List<String>> containers(AllocateRequest request) {
        return request.getContainerRequestsList().stream()
                .map(container -> List.copyOf(container.getDevicesIdsList()))
                .toList();
    }

    private void allocate(List<List<String>> containers, GrpcServerCall call) {
        switch (resourceHandler.allocate(containers)) {
            case AllocationResult.Accepted accepted -> {
                call.respond(allocations.response(accepted));
                publishLater();
            }
            case AllocationResult.Refused refused -> reject(call, refused);
        }
    }

    private void publishLater() {
        if (!collecting) {
            collecting = true;
            loop.schedule(this::publishCollected, ResourceHandler.COLLECTING.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void publishCollected() {
        collecting = false;
        if (!resourceHandler.publishCollected()) {
            publishLater();
        }
    }

    private void preStart(PreStartContainerRequest request, GrpcServerCall call) {
        resourceHandler
                .preStart(request.getDevicesIdsList())
                .ifPresentOrElse(refused -> reject(call, refused), () -> call.respond(EMPTY));
    }

    private PreferredAllocationResponse preferredAllocation(PreferredAllocationRequest request) {
        var response = PreferredAllocationResponse.newBuilder();
        request.getContainerRequestsList()
                .forEach(container -> response.addContainerResponses(ContainerPreferredAllocationResponse.newBuilder()
                        .addAllDeviceIDs(resourceHandler.preferred(
                                container.getAvailableDeviceIDsList(),
                                container.getMustIncludeDeviceIDsList(),
                                container.getAllocationSize()))));
        return response.build();
    }

    private static void reject(GrpcServerCall call, AllocationResult.Refused refused) {
        call.refuse(DevicePluginMessages.status(refused.code()), refused.message());
    }
}
