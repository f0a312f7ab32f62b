package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.ResourceDesk;
import io.gpufleet.nodedaemon.model.AllocationAnswer;
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

/** Serves the device plugin contract on a unix socket of its own; every answer comes from the desk's snapshot. */
final class PluginServer {
    /** The one version of the contract that there is. */
    static final String VERSION = "v1beta1";

    private final Vertx vertx;
    private final ResourceDesk desk;
    private final GrpcServer grpc;

    PluginServer(Vertx vertx, ResourceDesk desk, WatchStreams streams) {
        this.vertx = vertx;
        this.desk = desk;
        this.grpc = GrpcServer.server(vertx);
        grpc.callHandler(
                DevicePluginGrpcService.GetDevicePluginOptions,
                call -> call.handler(_ -> call.response()
                        .end(DevicePluginOptions.newBuilder()
                                .setPreStartRequired(desk.preStart())
                                .setGetPreferredAllocationAvailable(true)
                                .build())));
        grpc.callHandler(DevicePluginGrpcService.ListAndWatch, call -> call.handler(_ -> streams.accept(call)));
        grpc.callHandler(DevicePluginGrpcService.Allocate, call -> call.handler(request -> allocate(call, request)));
        grpc.callHandler(
                DevicePluginGrpcService.PreStartContainer, call -> call.handler(request -> preStart(call, request)));
        grpc.callHandler(
                DevicePluginGrpcService.GetPreferredAllocation,
                call -> call.handler(request -> call.response().end(preferred(request))));
    }

    /** What else is served on the same socket is added here. */
    GrpcServer grpc() {
        return grpc;
    }

    /** Listens on a socket that is not there yet. */
    Future<HttpServer> listen(Path socket) {
        return vertx.createHttpServer()
                .connectionHandler(OddAuthority::accept)
                .requestHandler(grpc)
                .listen(SocketAddress.domainSocketAddress(socket.toString()));
    }

    private void allocate(GrpcServerRequest<AllocateRequest, AllocateResponse> call, AllocateRequest request) {
        List<List<String>> containers = request.getContainerRequestsList().stream()
                .map(container -> List.copyOf(container.getDevicesIdsList()))
                .toList();
        switch (desk.allocate(containers)) {
            case AllocationAnswer.Granted granted -> call.response().end(PluginMessages.granted(granted));
            case AllocationAnswer.Refused refused -> refuse(call, refused);
        }
    }

    private void preStart(
            GrpcServerRequest<PreStartContainerRequest, PreStartContainerResponse> call,
            PreStartContainerRequest request) {
        desk.preStart(request.getDevicesIdsList())
                .ifPresentOrElse(
                        refused -> refuse(call, refused),
                        () -> call.response().end(PreStartContainerResponse.getDefaultInstance()));
    }

    private PreferredAllocationResponse preferred(PreferredAllocationRequest request) {
        var response = PreferredAllocationResponse.newBuilder();
        request.getContainerRequestsList()
                .forEach(container -> response.addContainerResponses(ContainerPreferredAllocationResponse.newBuilder()
                        .addAllDeviceIDs(desk.preferred(
                                container.getAvailableDeviceIDsList(),
                                container.getMustIncludeDeviceIDsList(),
                                container.getAllocationSize()))));
        return response.build();
    }

    private static void refuse(GrpcServerRequest<?, ?> call, AllocationAnswer.Refused refused) {
        call.response()
                .status(PluginMessages.status(refused.kind()))
                .statusMessage(refused.message())
                .end();
    }
}
