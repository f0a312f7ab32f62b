package io.gpufleet.proto.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcService;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.netty.channel.EventLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.GrpcServer;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Server and client on Unix sockets; the other end is another implementation of HTTP/2 and gRPC, that of Vert.x. */
class UnixGrpcIT {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final EventLoop loop = EventLoops.open("unix-grpc");
    private final UnixGrpcServer server = new UnixGrpcServer(loop);
    private final UnixGrpcClient client = new UnixGrpcClient(loop);
    private final Vertx vertx = Vertx.vertx();
    private final List<GrpcServerCall> watching = new CopyOnWriteArrayList<>();
    private final AtomicInteger closed = new AtomicInteger();
    private Path socket = Path.of("");
    private SocketAddress address;

    @BeforeEach
    void directory() throws IOException {
        // The path of a socket has at most 107 bytes.
        socket = Files.createTempDirectory("grpc").resolve("s.sock");
        address = SocketAddress.domainSocketAddress(socket.toString());
    }

    @AfterEach
    void close() throws Exception {
        vertx.close().await();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        Files.deleteIfExists(socket);
        Files.delete(socket.getParent());
    }

    /** Options are answered, Allocate echoes the number of devices, ListAndWatch stays open. */
    private ServedSocket serve() {
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

    private static AllocateResponse echo(int ids) {
        var response = AllocateResponse.newBuilder();
        response.addContainerResponsesBuilder().putEnvs("ids", Integer.toString(ids));
        return response.build();
    }

    private static AllocateRequest request(int ids) {
        var container = ContainerAllocateRequest.newBuilder();
        for (int i = 0; i < ids; i++) {
            container.addDevicesIds("GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16" + i);
        }
        return AllocateRequest.newBuilder().addContainerRequests(container).build();
    }

    /** On an event loop from the start: a response of Vert.x that arrives before its handler is attached is lost. */
    private <T> T get(Supplier<Future<T>> act) throws Exception {
        var got = new CompletableFuture<T>();
        vertx.runOnContext(_ -> act.get().onSuccess(got::complete).onFailure(got::completeExceptionally));
        return got.get(20, TimeUnit.SECONDS);
    }

    private DevicePluginGrpcClient otherClient() {
        return DevicePluginGrpcClient.create(UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY), address);
    }

    @Test
    void callsOfAnotherClientAreAnsweredOneAfterTheOtherAndSideBySide() throws Exception {
        serve();
        DevicePluginGrpcClient other = otherClient();

        for (int ids = 1; ids <= 100; ids++) {
            int count = ids;
            assertThat(get(() -> other.allocate(request(count)))).isEqualTo(echo(count));
        }
        var together = get(() -> Future.join(
                other.allocate(request(3)),
                other.getDevicePluginOptions(Empty.getDefaultInstance()),
                other.allocate(request(4))));
        assertThat(together.<AllocateResponse>resultAt(0)).isEqualTo(echo(3));
        assertThat(together.<AllocateResponse>resultAt(2)).isEqualTo(echo(4));
    }

    @Test
    void requestLargerThanEveryWindowIsRead() throws Exception {
        serve();

        // Given 4 MB
        assertThat(get(() -> otherClient().allocate(request(100_000)))).isEqualTo(echo(100_000));
        assertThat(client.call(socket, KubeletMethods.ALLOCATE, request(100_000), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .isEqualTo(echo(100_000));
    }

    @Test
    void serverThatDoesNotListenYetIsCalledAgain() throws Exception {
        // Given a socket that refuses connections, as between bind and listen
        ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(socket))
                .close();

        var starting = client.callStarting(socket, KubeletMethods.ALLOCATE, request(3), DEADLINE)
                .toCompletableFuture();
        assertThatThrownBy(() -> client.call(socket, KubeletMethods.ALLOCATE, request(3), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .hasMessageContaining("refused");
        Files.delete(socket);
        serve();

        assertThat(starting.join()).isEqualTo(echo(3));
    }

    @Test
    void refusalHasStatusAndTextOfTheServer() {
        serve();

        assertThatThrownBy(() -> client.call(socket, KubeletMethods.ALLOCATE, request(0), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .cause()
                .isInstanceOfSatisfying(
                        GrpcStatusException.class,
                        failed -> assertThat(failed.status()).isEqualTo(GrpcStatus.INVALID_ARGUMENT))
                .hasMessage("INVALID_ARGUMENT: no device; 100 % ü");
        assertThatThrownBy(() -> get(() -> otherClient().allocate(request(0))))
                .hasMessageContaining("INVALID_ARGUMENT");
    }

    @Test
    void defectOfAHandlerIsAnErrorOfItsCallAlone() {
        serve();

        assertThatThrownBy(() -> client.call(
                                socket,
                                KubeletMethods.PRE_START_CONTAINER,
                                io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerRequest.getDefaultInstance(),
                                DEADLINE)
                        .toCompletableFuture()
                        .join())
                .hasMessageContaining("INTERNAL: a defect");
        assertThat(client.call(socket, KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance(), DEADLINE)
                        .toCompletableFuture()
                        .join()
                        .getPreStartRequired())
                .isTrue();
    }

    @Test
    void unknownMethodIsUnimplemented() {
        serve();

        assertThatThrownBy(() -> client.call(socket, KubeletMethods.REGISTER, register(), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .hasMessageContaining("UNIMPLEMENTED");
    }

    private static io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest register() {
        return io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest.getDefaultInstance();
    }

    private HttpClientResponse send(HttpMethod method, String type, byte[] body) throws Exception {
        var http = vertx.createHttpClient(
                new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
        return get(() -> http.request(new RequestOptions()
                        .setServer(address)
                        .setMethod(method)
                        .setURI(KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS.path()))
                .compose(request -> request.putHeader("content-type", type).send(Buffer.buffer(body)))
                .compose(answer -> answer.body().map(answer)));
    }

    @Test
    void requestThatIsNoGrpcIsRefusedByHttp() throws Exception {
        serve();

        assertThat(send(HttpMethod.PUT, "application/grpc", new byte[5]).statusCode())
                .isEqualTo(405);
        assertThat(send(HttpMethod.POST, "text/plain", new byte[5]).statusCode())
                .isEqualTo(415);
    }

    @Test
    void requestWithoutWholeMessageIsAnInternalError() throws Exception {
        serve();

        assertThat(status(send(HttpMethod.POST, "application/grpc", new byte[0])))
                .isEqualTo("13");
        assertThat(status(send(HttpMethod.POST, "application/grpc", new byte[] {0, 0, 0, 0, 9, 1})))
                .isEqualTo("13");
        assertThat(status(send(HttpMethod.POST, "application/grpc+proto", new byte[] {0, 0, 0, 0, 1, 7})))
                .as("no protobuf message")
                .isEqualTo("13");
    }

    @Test
    void compressedAndOversizedMessagesAreRefused() throws Exception {
        serve();

        assertThat(status(send(HttpMethod.POST, "application/grpc", new byte[] {1, 0, 0, 0, 0})))
                .isEqualTo("12");
        assertThat(status(send(HttpMethod.POST, "application/grpc", new byte[] {0, 1, 0, 0, 1, 0})))
                .isEqualTo("8");
    }

    private static String status(HttpClientResponse response) {
        String trailer = response.getTrailer("grpc-status");
        return trailer == null ? String.valueOf(response.getHeader("grpc-status")) : trailer;
    }

    @Test
    void streamOfAClientThatCancelsIsClosedOnce() throws Exception {
        serve();
        GrpcClient other = UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY);
        var call = get(() -> other.request(address, DevicePluginGrpcClient.ListAndWatch)
                .compose(opened -> opened.send(Empty.getDefaultInstance()).map(opened)));
        await().until(() -> watching.size() == 1);

        vertx.runOnContext(_ -> call.cancel());

        await().until(() -> closed.get() == 1);
        loop.submit(() -> watching.getFirst().send(new byte[0])).sync();
        get(other::close);
        assertThat(get(() -> otherClient().getDevicePluginOptions(Empty.getDefaultInstance())))
                .isNotNull();
        assertThat(closed).hasValue(1);
    }

    @Test
    void streamIsClosedWithItsConnectionAlsoAfterOurOwnEnd() throws Exception {
        serve();
        GrpcClient other = UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY);
        var ended = new CompletableFuture<Boolean>();
        get(() -> other.request(address, DevicePluginGrpcClient.ListAndWatch)
                .compose(call -> call.send(Empty.getDefaultInstance()))
                .map(response -> response.handler(_ -> {}).endHandler(_ -> ended.complete(true))));
        await().until(() -> watching.size() == 1);

        loop.submit(() -> watching.getFirst().end()).sync();

        assertThat(ended.get(20, TimeUnit.SECONDS)).isTrue();
        assertThat(closed).hasValue(0);
        get(other::close);
        await().until(() -> closed.get() == 1);
    }

    @Test
    void endOfTheSocketEndsItsConnections() throws Exception {
        ServedSocket served = serve();
        get(() -> UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY)
                .request(address, DevicePluginGrpcClient.ListAndWatch)
                .compose(call -> call.send(Empty.getDefaultInstance())));
        await().until(() -> watching.size() == 1);

        served.close().toCompletableFuture().get(20, TimeUnit.SECONDS);

        await().until(() -> closed.get() == 1);
    }

    @Test
    void bytesThatAreNoHttp2EndTheirConnectionAlone() throws Exception {
        serve();
        try (var stranger = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            stranger.write(
                    ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
            var rest = ByteBuffer.allocate(4096);
            while (stranger.read(rest) >= 0) {
                rest.clear();
            }
        }

        assertThat(get(() -> otherClient().allocate(request(1)))).isEqualTo(echo(1));
    }

    @Test
    void callOfAnotherServerIsAnsweredWithTheAuthorityOfAGoClient() throws Exception {
        List<String> authorities = new CopyOnWriteArrayList<>();
        GrpcServer other = UnixSocketGrpc.server(vertx);
        other.callHandler(
                DevicePluginGrpcService.GetDevicePluginOptions,
                call -> call.handler(_ -> call.response().end(DevicePluginOptions.getDefaultInstance())));
        get(() -> vertx.createHttpServer()
                .requestHandler(request -> {
                    authorities.add(String.valueOf(request.authority()));
                    other.handle(request);
                })
                .listen(address));

        assertThat(client.call(socket, KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance(), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .isEqualTo(DevicePluginOptions.getDefaultInstance());
        assertThat(authorities).containsExactly("localhost");
    }

    @Test
    void serverThatIsAbsentOrClosesTheConnectionFailsTheCall() throws Exception {
        assertThatThrownBy(this::options)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IOException.class);
        try (var closing = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            closing.bind(UnixDomainSocketAddress.of(socket));
            var result = client.call(
                            socket, KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance(), DEADLINE)
                    .toCompletableFuture();

            closing.accept().close();

            assertThatThrownBy(result::join).hasCauseInstanceOf(IOException.class);
        }
    }

    private DevicePluginOptions options() {
        return client.call(socket, KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance(), DEADLINE)
                .toCompletableFuture()
                .join();
    }

    @Test
    void serverThatNeverRespondsFailsTheCallAtItsDeadline() throws Exception {
        try (var silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(socket));

            assertThatThrownBy(() -> client.call(
                                    socket,
                                    KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS,
                                    Empty.getDefaultInstance(),
                                    Duration.ofMillis(100))
                            .toCompletableFuture()
                            .join())
                    .hasCauseInstanceOf(TimeoutException.class)
                    .hasMessageContaining("GetDevicePluginOptions")
                    .hasMessageContaining("no response in 100 ms");
        }
    }
}
