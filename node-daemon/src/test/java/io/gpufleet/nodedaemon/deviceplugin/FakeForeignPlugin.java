package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** NVIDIA's plugin as a kubelet and we observe it: the name of its socket and a registration of the same resource. */
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

    /** Serves healthy GPUs in a kubelet's device-plugins directory, and registers them. */
    public static FakeForeignPlugin register(Path plugins, String resource, int gpus) {
        List<OfferedDevice> offers = IntStream.range(0, gpus)
                .mapToObj(index -> TestGpus.offer(index, true, ""))
                .toList();
        var allocationHandler = new AllocationHandler(
                new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.of(List.of())),
                () -> TestGpus.second(0),
                new DaemonCounters(),
                _ -> {});
        allocationHandler.lists(Map.of(resource, new DeviceList(1, offers)), 1);
        EventLoop loop = EventLoops.open("foreign-plugin");
        var streams = new ListAndWatchStreams(
                loop,
                ListAndWatchStreams.TEARDOWN_LIMIT,
                allocationHandler.resource(resource)::list,
                () -> {},
                () -> {});
        Path socket = plugins.resolve(SOCKET);
        ServedSocket served = new DevicePluginServer(loop, allocationHandler.resource(resource), streams)
                .listen(socket)
                .toCompletableFuture()
                .join();
        var request = RegisterRequest.newBuilder()
                .setVersion(DevicePluginServer.VERSION)
                .setEndpoint(SOCKET)
                .setResourceName(resource)
                .build();
        new UnixGrpcClient(loop)
                .call(plugins.resolve("kubelet.sock"), KubeletMethods.REGISTER, request, DEADLINE)
                .toCompletableFuture()
                .join();
        return new FakeForeignPlugin(socket, served, loop);
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
