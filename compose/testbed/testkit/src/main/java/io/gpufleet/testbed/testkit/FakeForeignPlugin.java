package io.gpufleet.testbed.testkit;

import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.UnixGrpcServer;
import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.Device;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** NVIDIA's plugin as a kubelet and gpufleet observe it: the name of its socket and a registration of the same resource. */
public final class FakeForeignPlugin implements AutoCloseable {
    /** Name of the socket of NVIDIA's plugin. */
    public static final String SOCKET = "nvidia-gpu.sock";

    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final Path socket;
    private final ServedSocket served;
    private final EventLoop loop;

    private FakeForeignPlugin(Path socket, ServedSocket served, EventLoop loop) {
        this.socket = socket;
        this.served = served;
        this.loop = loop;
    }

    /** Serves healthy GPUs with names of its own in a kubelet's device-plugins directory, and registers them. */
    public static FakeForeignPlugin register(Path plugins, String resource, int gpus) {
        return register(
                plugins,
                resource,
                IntStream.range(0, gpus)
                        .mapToObj(index -> "GPU-0000000" + index)
                        .toList());
    }

    /** Serves healthy GPUs with these UUIDs, and registers them. */
    public static FakeForeignPlugin register(Path plugins, String resource, List<String> uuids) {
        EventLoop loop = EventLoops.open("foreign-plugin");
        Path socket = plugins.resolve(SOCKET);
        ServedSocket served =
                server(loop, uuids).listen(socket).toCompletableFuture().join();
        var request = RegisterRequest.newBuilder()
                .setVersion("v1beta1")
                .setEndpoint(SOCKET)
                .setResourceName(resource)
                .build();
        new UnixGrpcClient(loop)
                .call(plugins.resolve("kubelet.sock"), KubeletMethods.REGISTER, request, DEADLINE)
                .toCompletableFuture()
                .join();
        return new FakeForeignPlugin(socket, served, loop);
    }

    private static UnixGrpcServer server(EventLoop loop, List<String> uuids) {
        var grpc = new UnixGrpcServer(loop);
        byte[] options = DevicePluginOptions.getDefaultInstance().toByteArray();
        grpc.serve(KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, (_, call) -> call.respond(options));
        // A list, and no other one: all stay healthy.
        byte[] devices = devices(uuids);
        grpc.serve(KubeletMethods.LIST_AND_WATCH, (_, call) -> call.send(devices));
        grpc.serve(
                KubeletMethods.ALLOCATE,
                (request, call) -> call.respond(allocated(request).toByteArray()));
        return grpc;
    }

    private static byte[] devices(List<String> uuids) {
        var list = ListAndWatchResponse.newBuilder();
        uuids.forEach(uuid -> list.addDevices(Device.newBuilder().setID(uuid).setHealth("Healthy")));
        return list.build().toByteArray();
    }

    /** The variable by which NVIDIA's container runtime knows them. */
    private static AllocateResponse allocated(AllocateRequest request) {
        var response = AllocateResponse.newBuilder();
        request.getContainerRequestsList()
                .forEach(container -> response.addContainerResponses(ContainerAllocateResponse.newBuilder()
                        .putEnvs("NVIDIA_VISIBLE_DEVICES", String.join(",", container.getDevicesIdsList()))));
        return response.build();
    }

    /** Ends like NVIDIA's on SIGTERM: removes its socket first. A second end has no effect. */
    @Override
    public void close() throws IOException {
        if (loop.isShuttingDown()) {
            return;
        }
        Files.deleteIfExists(socket);
        served.close().toCompletableFuture().join();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
