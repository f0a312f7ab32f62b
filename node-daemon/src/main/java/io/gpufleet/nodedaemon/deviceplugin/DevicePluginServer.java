package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.ResourceHandler;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.proto.kubelet.UnixSocketGrpc;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerPreferredAllocationResponse;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcService;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerRequest;
import io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerResponse;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationResponse;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.GrpcServerRequest;
import java.nio.file.Path;
import java.util.List;

/** Serves the device plugin API on a unix socket; every response comes from the {@link ResourceHandler}'s snapshot. */
final class DevicePluginServer {
    /** The only version of the API. */
    static final String VERSION = "v1beta1";

    private final Vertx vertx;
    private final ResourceHandler resourceHandler;
    private final GrpcServer grpc;
    private final AllocateResponses allocations = new AllocateResponses();
    private boolean publishing;

    DevicePluginServer(Vertx vertx, ResourceHandler resourceHandler, ListAndWatchStreams streams) {
        this.vertx = vertx;
        this.resourceHandler = resourceHandler;
        this.grpc = UnixSocketGrpc.server(vertx);
        grpc.callHandler(
                DevicePluginGrpcService.GetDevicePluginOptions,
                call -> call.handler(_ -> call.response()
                        .end(DevicePluginOptions.newBuilder()
                                .setPreStartRequired(resourceHandler.preStart())
                                .setGetPreferredAllocationAvailable(true)
                                .build())));
        grpc.callHandler(DevicePluginGrpcService.ListAndWatch, call -> call.handler(_ -> streams.accept(call)));
        grpc.callHandler(DevicePluginGrpcService.Allocate, call -> call.handler(request -> allocate(call, request)));
        grpc.callHandler(
                DevicePluginGrpcService.PreStartContainer, call -> call.handler(request -> preStart(call, request)));
        grpc.callHandler(
                DevicePluginGrpcService.GetPreferredAllocation,
                call -> call.handler(request -> call.response().end(preferredAllocation(request))));
    }

    /** The gRPC server, to add further services on the same socket. */
    GrpcServer grpc() {
        return grpc;
    }

    /** Listens on a socket that must not exist. */
    Future<HttpServer> listen(Path socket) {
        return vertx.createHttpServer()
                .connectionHandler(AuthorityHeaderFix::accept)
                .requestHandler(grpc)
                .listen(SocketAddress.domainSocketAddress(socket.toString()));
    }

    private void allocate(GrpcServerRequest<AllocateRequest, AllocateResponse> call, AllocateRequest request) {
        List<List<String>> containers = request.getContainerRequestsList().stream()
                .map(container -> List.copyOf(container.getDevicesIdsList()))
                .toList();
        switch (resourceHandler.allocate(containers)) {
            case AllocationResult.Accepted accepted -> {
                call.response().end(allocations.response(accepted));
                publishLater();
            }
            case AllocationResult.Refused refused -> reject(call, refused);
        }
    }

    private void publishLater() {
        if (!publishing) {
            publishing = true;
            vertx.setTimer(ResourceHandler.COLLECTING.toMillis(), _ -> {
                publishing = false;
                resourceHandler.publishAllocations();
            });
        }
    }

    private void preStart(
            GrpcServerRequest<PreStartContainerRequest, PreStartContainerResponse> call,
            PreStartContainerRequest request) {
        resourceHandler
                .preStart(request.getDevicesIdsList())
                .ifPresentOrElse(
                        refused -> reject(call, refused),
                        () -> call.response().end(PreStartContainerResponse.getDefaultInstance()));
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

    private static void reject(GrpcServerRequest<?, ?> call, AllocationResult.Refused refused) {
        call.response()
                .status(DevicePluginMessages.status(refused.code()))
                .statusMessage(refused.message())
                .end();
    }
}
