package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcService;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.netty.channel.EventLoop;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.server.GrpcServer;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PluginSelfCheckIT {
    private final Vertx vertx = Vertx.vertx();
    private final EventLoop loop = EventLoops.open("kubelet");
    private final PluginSelfCheck check = new PluginSelfCheck(new UnixGrpcClient(loop));
    private final AtomicInteger calls = new AtomicInteger();
    private Path socket = Path.of("");

    @BeforeEach
    void directory() throws Exception {
        // The path of a socket has at most 107 bytes.
        socket = SocketDirectory.create().resolve("own.sock");
    }

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        Files.deleteIfExists(socket);
        Files.deleteIfExists(socket.getParent());
    }

    private void checkTimes(int times) {
        for (int i = 0; i < times; i++) {
            loop.execute(() -> check.check(socket));
        }
    }

    private void serve() throws Exception {
        var grpc = GrpcServer.server(vertx);
        grpc.callHandler(
                DevicePluginGrpcService.GetDevicePluginOptions,
                call -> call.handler(_ -> {
                    calls.incrementAndGet();
                    call.response().end(DevicePluginOptions.getDefaultInstance());
                }));
        vertx.createHttpServer()
                .requestHandler(grpc)
                .listen(SocketAddress.domainSocketAddress(socket.toString()))
                .toCompletionStage()
                .toCompletableFuture()
                .get();
    }

    @Test
    void respondingServerIsNotStuck() throws Exception {
        serve();
        for (int call = 1; call <= 4; call++) {
            int expected = call;
            checkTimes(1);
            await().until(() -> calls.get() == expected);
        }

        assertThat(check.stuck()).isFalse();
    }

    @Test
    void serverThatAcceptsConnectionsAndNeverRespondsIsStuck() throws Exception {
        try (var deaf = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            deaf.bind(UnixDomainSocketAddress.of(socket));

            checkTimes(3);
            assertThat(check.stuck()).isFalse();
            checkTimes(1);

            await().until(check::stuck);
        }
    }

    @Test
    void stoppedServerIsStuckUntilItRespondsAgain() throws Exception {
        await().until(() -> {
            checkTimes(1);
            return check.stuck();
        });

        serve();

        await().until(() -> {
            checkTimes(1);
            return !check.stuck();
        });
    }
}
