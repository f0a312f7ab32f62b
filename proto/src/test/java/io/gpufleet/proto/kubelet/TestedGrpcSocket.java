package io.gpufleet.proto.kubelet;

import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.netty.channel.EventLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.common.GrpcStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** A Unix socket with our server, and what Vert.x has for another client or server of it. */
final class TestedGrpcSocket implements AutoCloseable {
    private final EventLoop loop = EventLoops.open("unix-grpc");
    private final UnixGrpcServer server = new UnixGrpcServer(loop);
    private final Vertx vertx = Vertx.vertx();
    private final List<GrpcServerCall> watching = new CopyOnWriteArrayList<>();
    private final AtomicInteger closed = new AtomicInteger();
    private final Path socket;
    private final SocketAddress address;

    TestedGrpcSocket() throws IOException {
        // The path of a socket has at most 107 bytes.
        socket = Files.createTempDirectory("grpc").resolve("s.sock");
        address = SocketAddress.domainSocketAddress(socket.toString());
    }

    EventLoop loop() {
        return loop;
    }

    Vertx vertx() {
        return vertx;
    }

    Path path() {
        return socket;
    }

    SocketAddress address() {
        return address;
    }

    /** Streams that were opened. */
    List<GrpcServerCall> watching() {
        return watching;
    }

    /** How many streams were closed. */
    AtomicInteger closed() {
        return closed;
    }

    /** Options are answered, Allocate echoes the number of devices, ListAndWatch stays open. */
    ServedSocket serve() {
        server.serve(
                KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS,
                (_, call) -> call.respond(DevicePluginOptions.newBuilder()
                        .setPreStartRequired(true)
                        .build()
                        .toByteArray()));
        server.serve(KubeletMethods.ALLOCATE, (request, call) -> {
            int ids = request.getContainerRequests(0).getDevicesIdsCount();
            if (ids == 0) {
                call.refuse(GrpcStatus.INVALID_ARGUMENT, "no device; 100 % ü");
            } else {
                call.respond(echo(ids).toByteArray());
            }
        });
        server.serve(KubeletMethods.LIST_AND_WATCH, (_, call) -> {
            watching.add(call);
            call.onClosed(closed::incrementAndGet);
            call.send(new byte[0]);
        });
        server.serve(KubeletMethods.PRE_START_CONTAINER, (_, _) -> {
            throw new IllegalStateException("a defect");
        });
        return server.listen(socket).toCompletableFuture().join();
    }

    static AllocateResponse echo(int ids) {
        var response = AllocateResponse.newBuilder();
        response.addContainerResponsesBuilder().putEnvs("ids", Integer.toString(ids));
        return response.build();
    }

    static AllocateRequest request(int ids) {
        var container = ContainerAllocateRequest.newBuilder();
        for (int i = 0; i < ids; i++) {
            container.addDevicesIds("GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16" + i);
        }
        return AllocateRequest.newBuilder().addContainerRequests(container).build();
    }

    /** On an event loop from the start: a response of Vert.x that arrives before its handler is attached is lost. */
    <T> T get(Supplier<Future<T>> act) throws Exception {
        var got = new CompletableFuture<T>();
        vertx.runOnContext(_ -> act.get().onSuccess(got::complete).onFailure(got::completeExceptionally));
        return got.get(20, TimeUnit.SECONDS);
    }

    DevicePluginGrpcClient otherClient() {
        return DevicePluginGrpcClient.create(UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY), address);
    }

    @Override
    public void close() throws Exception {
        vertx.close().await();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        Files.deleteIfExists(socket);
        Files.delete(socket.getParent());
    }
}
