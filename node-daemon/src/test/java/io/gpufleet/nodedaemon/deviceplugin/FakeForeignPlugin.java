package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.kubelet.UnaryCalls;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcClient;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** NVIDIA's plugin as a kubelet and we observe it: the name of its socket and a registration of the same resource. */
public final class FakeForeignPlugin implements AutoCloseable {
    /** Name of the socket of NVIDIA's plugin. */
    public static final String SOCKET = "nvidia-gpu.sock";

    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final Path socket;
    private final HttpServer server;

    private FakeForeignPlugin(Path socket, HttpServer server) {
        this.socket = socket;
        this.server = server;
    }

    /** Serves healthy GPUs in a kubelet's device-plugins directory, and registers them. */
    public static FakeForeignPlugin register(Vertx vertx, Path plugins, String resource, int gpus) {
        List<OfferedDevice> offers = IntStream.range(0, gpus)
                .mapToObj(index -> TestGpus.offer(index, true, ""))
                .toList();
        var allocationHandler = new AllocationHandler(
                new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.of(List.of())),
                () -> TestGpus.second(0),
                new DaemonCounters(),
                _ -> {});
        allocationHandler.lists(Map.of(resource, new DeviceList(1, offers)), 1);
        var streams = new ListAndWatchStreams(
                vertx.getOrCreateContext(),
                ListAndWatchStreams.TEARDOWN_LIMIT,
                allocationHandler.resource(resource)::list,
                () -> {},
                () -> {});
        Path socket = plugins.resolve(SOCKET);
        HttpServer server = new DevicePluginServer(vertx, allocationHandler.resource(resource), streams)
                .listen(socket)
                .await();
        var calls = new UnaryCalls(vertx, vertx.getOrCreateContext());
        var request = RegisterRequest.newBuilder()
                .setVersion(DevicePluginServer.VERSION)
                .setEndpoint(SOCKET)
                .setResourceName(resource)
                .build();
        calls.call(plugins.resolve("kubelet.sock"), RegistrationGrpcClient.Register, request, DEADLINE)
                .await();
        calls.close();
        return new FakeForeignPlugin(socket, server);
    }

    /** Ends like NVIDIA's on SIGTERM: removes its socket first. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(socket);
        server.close().await();
    }
}
