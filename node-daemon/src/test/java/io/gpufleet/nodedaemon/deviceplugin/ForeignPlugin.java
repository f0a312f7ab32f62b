package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.KubeletDesk;
import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcClient;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** NVIDIA's plugin as far as a kubelet and we can tell: its socket's name, and a registration of the same resource. */
public final class ForeignPlugin implements AutoCloseable {
    /** As NVIDIA names it. */
    public static final String SOCKET = "nvidia-gpu.sock";

    private final Path socket;
    private final HttpServer server;

    private ForeignPlugin(Path socket, HttpServer server) {
        this.socket = socket;
        this.server = server;
    }

    /** Serves so many healthy GPUs in a kubelet's device-plugins directory, and registers them. */
    public static ForeignPlugin register(Vertx vertx, Path plugins, String resource, int gpus) {
        List<Offer> offers = IntStream.range(0, gpus)
                .mapToObj(index -> Some.offer(index, true, ""))
                .toList();
        var desk = new KubeletDesk(
                new Allocator(PluginSettings.STANDARD, HostNodes.of(List.of())),
                () -> Some.second(0),
                new Counters(),
                _ -> {});
        desk.lists(Map.of(resource, new DeviceList(1, offers)), 1);
        var streams = new WatchStreams(vertx.getOrCreateContext(), desk.resource(resource)::list, () -> {}, () -> {});
        Path socket = plugins.resolve(SOCKET);
        HttpServer server = new PluginServer(vertx, desk.resource(resource), streams)
                .listen(socket)
                .await();
        GrpcClient client = GrpcClient.client(vertx);
        var request = RegisterRequest.newBuilder()
                .setVersion(PluginServer.VERSION)
                .setEndpoint(SOCKET)
                .setResourceName(resource)
                .build();
        client.request(
                        SocketAddress.domainSocketAddress(
                                plugins.resolve("kubelet.sock").toString()),
                        RegistrationGrpcClient.Register)
                .compose(call -> call.send(request))
                .compose(response -> response.last())
                .await();
        client.close().await();
        return new ForeignPlugin(socket, server);
    }

    /** Goes as NVIDIA's does on SIGTERM: its socket first. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(socket);
        server.close().await();
    }
}
