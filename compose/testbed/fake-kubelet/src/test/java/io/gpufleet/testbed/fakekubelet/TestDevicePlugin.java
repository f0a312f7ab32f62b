package io.gpufleet.testbed.fakekubelet;

import io.gpufleet.proto.kubelet.UnixSocketGrpc;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerPreferredAllocationResponse;
import io.gpufleet.proto.kubelet.deviceplugin.Device;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcService;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginService;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationResponse;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.streams.WriteStream;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.StatusException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A minimal device plugin. */
final class TestDevicePlugin extends DevicePluginService implements AutoCloseable {
    static final String RESOURCE = "nvidia.com/gpu";

    private final Vertx vertx;
    private final Path directory;
    private final UnixSocketServer server;
    private final List<WriteStream<ListAndWatchResponse>> streams = new CopyOnWriteArrayList<>();
    private volatile List<Device> devices;
    private volatile boolean rejecting;

    TestDevicePlugin(Vertx vertx, Path directory, String... ids) throws IOException {
        this.vertx = vertx;
        this.directory = directory;
        this.devices = java.util.Arrays.stream(ids)
                .map(id -> Device.newBuilder().setID(id).setHealth("Healthy").build())
                .toList();
        this.server = UnixSocketServer.open(vertx, directory.resolve("small.sock"), DevicePluginGrpcService.of(this));
    }

    void register() throws IOException {
        register(RESOURCE, "v1beta1", "small.sock");
    }

    void register(String resource, String version, String endpoint) throws IOException {
        GrpcClient client = UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY);
        try {
            UnixSocketServer.await(RegistrationGrpcClient.create(
                            client,
                            SocketAddress.domainSocketAddress(
                                    directory.resolve("kubelet.sock").toString()))
                    .register(RegisterRequest.newBuilder()
                            .setVersion(version)
                            .setEndpoint(endpoint)
                            .setResourceName(resource)
                            .build()));
        } finally {
            UnixSocketServer.await(client.close());
        }
    }

    void setHealth(String id, String health) {
        devices = devices.stream()
                .map(device -> device.getID().equals(id)
                        ? device.toBuilder().setHealth(health).build()
                        : device)
                .toList();
        streams.forEach(stream -> stream.write(list()));
    }

    void rejectAllocations() {
        rejecting = true;
    }

    @Override
    public Future<DevicePluginOptions> getDevicePluginOptions(Empty request) {
        return Future.succeededFuture(DevicePluginOptions.newBuilder()
                .setGetPreferredAllocationAvailable(true)
                .build());
    }

    @Override
    protected void listAndWatch(Empty request, WriteStream<ListAndWatchResponse> stream) {
        streams.add(stream);
        stream.write(list());
    }

    @Override
    public Future<PreferredAllocationResponse> getPreferredAllocation(PreferredAllocationRequest request) {
        var container = request.getContainerRequests(0);
        List<String> available = container.getAvailableDeviceIDsList().reversed();
        return Future.succeededFuture(PreferredAllocationResponse.newBuilder()
                .addContainerResponses(ContainerPreferredAllocationResponse.newBuilder()
                        .addAllDeviceIDs(available.subList(0, container.getAllocationSize())))
                .build());
    }

    @Override
    public Future<AllocateResponse> allocate(AllocateRequest request) {
        if (rejecting) {
            return Future.failedFuture(new StatusException(GrpcStatus.FAILED_PRECONDITION, "the driver is away"));
        }
        return Future.succeededFuture(AllocateResponse.newBuilder()
                .addContainerResponses(ContainerAllocateResponse.newBuilder()
                        .putEnvs(
                                "NVIDIA_VISIBLE_DEVICES",
                                String.join(
                                        ",",
                                        request.getContainerRequests(0).getDevicesIdsList().stream()
                                                .sorted()
                                                .toList())))
                .build());
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private ListAndWatchResponse list() {
        return ListAndWatchResponse.newBuilder().addAllDevices(devices).build();
    }
}
