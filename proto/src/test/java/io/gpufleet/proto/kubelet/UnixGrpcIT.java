package io.gpufleet.proto.kubelet;

import static io.gpufleet.proto.kubelet.TestedGrpcSocket.echo;
import static io.gpufleet.proto.kubelet.TestedGrpcSocket.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcService;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.vertx.core.Future;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.GrpcServer;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Server and client on Unix sockets; the other end is another implementation of HTTP/2 and gRPC, that of Vert.x. */
class UnixGrpcIT {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private UnixGrpcClient client;
    private TestedGrpcSocket grpc;

    @BeforeEach
    void open() throws IOException {
        grpc = new TestedGrpcSocket();
        client = new UnixGrpcClient(grpc.loop());
    }

    @AfterEach
    void close() throws Exception {
        grpc.close();
    }

    @Test
    void callsOfAnotherClientAreAnsweredOneAfterTheOtherAndSideBySide() throws Exception {
        grpc.serve();
        DevicePluginGrpcClient other = grpc.otherClient();

        for (int ids = 1; ids <= 100; ids++) {
            int count = ids;
            assertThat(grpc.get(() -> other.allocate(request(count)))).isEqualTo(echo(count));
        }
        var together = grpc.get(() -> Future.join(
                other.allocate(request(3)),
                other.getDevicePluginOptions(Empty.getDefaultInstance()),
                other.allocate(request(4))));
        assertThat(together.<AllocateResponse>resultAt(0)).isEqualTo(echo(3));
        assertThat(together.<AllocateResponse>resultAt(2)).isEqualTo(echo(4));
    }

    @Test
    void requestLargerThanEveryWindowIsRead() throws Exception {
        grpc.serve();

        // Given 4 MB
        assertThat(grpc.get(() -> grpc.otherClient().allocate(request(100_000))))
                .isEqualTo(echo(100_000));
        assertThat(client.call(grpc.path(), KubeletMethods.ALLOCATE, request(100_000), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .isEqualTo(echo(100_000));
    }

    @Test
    void serverThatDoesNotListenYetIsCalledAgain() throws Exception {
        // Given a socket that refuses connections, as between bind and listen
        ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(grpc.path()))
                .close();

        var starting = client.callStarting(grpc.path(), KubeletMethods.ALLOCATE, request(3), DEADLINE)
                .toCompletableFuture();
        assertThatThrownBy(() -> client.call(grpc.path(), KubeletMethods.ALLOCATE, request(3), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .hasMessageContaining("refused");
        Files.delete(grpc.path());
        grpc.serve();

        assertThat(starting.join()).isEqualTo(echo(3));
    }

    @Test
    void refusalHasStatusAndTextOfTheServer() {
        grpc.serve();

        assertThatThrownBy(() -> client.call(grpc.path(), KubeletMethods.ALLOCATE, request(0), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .cause()
                .isInstanceOfSatisfying(
                        GrpcStatusException.class,
                        failed -> assertThat(failed.status()).isEqualTo(GrpcStatus.INVALID_ARGUMENT))
                .hasMessage("INVALID_ARGUMENT: no device; 100 % ü");
        assertThatThrownBy(() -> grpc.get(() -> grpc.otherClient().allocate(request(0))))
                .hasMessageContaining("INVALID_ARGUMENT");
    }

    @Test
    void defectOfAHandlerIsAnErrorOfItsCallAlone() {
        grpc.serve();

        assertThatThrownBy(() -> client.call(
                                grpc.path(),
                                KubeletMethods.PRE_START_CONTAINER,
                                PreStartContainerRequest.getDefaultInstance(),
                                DEADLINE)
                        .toCompletableFuture()
                        .join())
                .hasMessageContaining("INTERNAL: a defect");
        assertThat(client.call(
                                grpc.path(),
                                KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS,
                                Empty.getDefaultInstance(),
                                DEADLINE)
                        .toCompletableFuture()
                        .join()
                        .getPreStartRequired())
                .isTrue();
    }

    @Test
    void unknownMethodIsUnimplemented() {
        grpc.serve();

        assertThatThrownBy(() -> client.call(grpc.path(), KubeletMethods.REGISTER, register(), DEADLINE)
                        .toCompletableFuture()
                        .join())
                .hasMessageContaining("UNIMPLEMENTED");
    }

    private static RegisterRequest register() {
        return RegisterRequest.getDefaultInstance();
    }

    @Test
    void callOfAnotherServerIsAnsweredWithTheAuthorityOfAGoClient() throws Exception {
        List<String> authorities = new CopyOnWriteArrayList<>();
        GrpcServer other = UnixSocketGrpc.server(grpc.vertx());
        other.callHandler(
                DevicePluginGrpcService.GetDevicePluginOptions,
                call -> call.handler(_ -> call.response().end(DevicePluginOptions.getDefaultInstance())));
        grpc.get(() -> grpc.vertx()
                .createHttpServer()
                .requestHandler(request -> {
                    authorities.add(String.valueOf(request.authority()));
                    other.handle(request);
                })
                .listen(grpc.address()));

        assertThat(client.call(
                                grpc.path(),
                                KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS,
                                Empty.getDefaultInstance(),
                                DEADLINE)
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
            closing.bind(UnixDomainSocketAddress.of(grpc.path()));
            var result = client.call(
                            grpc.path(), KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance(), DEADLINE)
                    .toCompletableFuture();

            closing.accept().close();

            assertThatThrownBy(result::join).hasCauseInstanceOf(IOException.class);
        }
    }

    private DevicePluginOptions options() {
        return client.call(grpc.path(), KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance(), DEADLINE)
                .toCompletableFuture()
                .join();
    }

    @Test
    void serverThatNeverRespondsFailsTheCallAtItsDeadline() throws Exception {
        try (var silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(grpc.path()));

            assertThatThrownBy(() -> client.call(
                                    grpc.path(),
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
