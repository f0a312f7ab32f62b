package io.gpufleet.proto.kubelet;

import static io.gpufleet.proto.kubelet.RawHttp2Peer.END_HEADERS;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.END_STREAM;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.block;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.frame;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.message;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Servers that answer wrongly, partly or not at all: a call fails at once where no answer can come any more. */
class HostileServerIT {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    /** Of the first call of a Netty client. */
    private static final int CALL = 3;

    private static final byte[] RESPONSE_HEADERS = block(List.of(":status", "200", "content-type", "application/grpc"));

    private final EventLoop loop = EventLoops.open("unix-grpc");
    private final UnixGrpcClient client = new UnixGrpcClient(loop);
    private Path socket = Path.of("");
    private ServerSocketChannel server;

    @BeforeEach
    void listen() throws IOException {
        socket = Files.createTempDirectory("grpc").resolve("s.sock");
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket), 1);
    }

    @AfterEach
    void close() throws Exception {
        server.close();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        Files.deleteIfExists(socket);
        Files.delete(socket.getParent());
    }

    private CompletableFuture<DevicePluginOptions> call(Duration deadline) {
        return client.call(socket, KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance(), deadline)
                .toCompletableFuture();
    }

    /** A call whose request was read; the server's preface is sent, and what follows it. */
    private CompletableFuture<DevicePluginOptions> answered(byte[]... frames) throws IOException {
        var result = call(DEADLINE);
        try (var peer = new RawHttp2Peer(server.accept())) {
            peer.send(RawHttp2Peer.settings());
            ByteBuffer preface = ByteBuffer.allocate(24);
            while (preface.hasRemaining()) {
                peer.channel().read(preface);
            }
            peer.end(CALL);
            for (byte[] frame : frames) {
                peer.send(frame);
            }
            result.handle((_, _) -> true).join();
        }
        return result;
    }

    private static byte[] headers(byte[] block, int flags) {
        return frame(RawHttp2Peer.HEADERS, END_HEADERS | flags, CALL, block);
    }

    @Test
    void serverThatGoesAwayBeforeTheCallFailsItAtOnce() throws Exception {
        // Given a GOAWAY that names no stream of the client, on a connection that stays open
        var result = answered(frame(RawHttp2Peer.GOAWAY, 0, 0, new byte[8]));

        assertThatThrownBy(result::join).hasCauseInstanceOf(IOException.class);
    }

    @Test
    void serverThatResetsTheStreamFailsTheCall() throws Exception {
        var result = answered(frame(RawHttp2Peer.RST_STREAM, 0, CALL, number(7)));

        assertThatThrownBy(result::join).hasMessageContaining("reset the stream: 7");
    }

    @Test
    void errorOfHttpNamesItsStatus() throws Exception {
        var result = answered(
                headers(block(List.of(":status", "503", "content-type", "text/plain")), 0),
                frame(RawHttp2Peer.DATA, END_STREAM, CALL, "overloaded".getBytes(StandardCharsets.US_ASCII)));

        assertThatThrownBy(result::join).hasMessageContaining("HTTP status 503");
    }

    @Test
    void responseInFramesOfOneByteIsRead() throws Exception {
        byte[] response = message(DevicePluginOptions.newBuilder()
                .setPreStartRequired(true)
                .build()
                .toByteArray());
        var frames = new ArrayList<byte[]>();
        frames.add(headers(RESPONSE_HEADERS, 0));
        for (byte each : response) {
            frames.add(frame(RawHttp2Peer.DATA, 0, CALL, new byte[] {each}));
        }
        frames.add(headers(block(List.of("grpc-status", "0")), END_STREAM));

        assertThat(answered(frames.toArray(byte[][]::new)).join().getPreStartRequired())
                .isTrue();
    }

    @Test
    void responseWithoutStatusOrMessageIsAnError() throws Exception {
        assertThatThrownBy(
                        answered(
                                headers(RESPONSE_HEADERS, 0),
                                frame(RawHttp2Peer.DATA, END_STREAM, CALL, message(new byte[0])))::join)
                .hasMessageContaining("without a status");
        assertThatThrownBy(answered(headers(
                        block(List.of(":status", "200", "content-type", "application/grpc", "grpc-status", "0")),
                        END_STREAM))::join)
                .hasMessageContaining("no message");
    }

    @Test
    void messageLargerThanTheLimitIsRefusedBeforeItArrives() throws Exception {
        byte[] announced = ByteBuffer.allocate(GrpcMessageReader.PREFIX)
                .put((byte) 0)
                .putInt(Integer.MAX_VALUE)
                .array();

        assertThatThrownBy(answered(headers(RESPONSE_HEADERS, 0), frame(RawHttp2Peer.DATA, 0, CALL, announced))::join)
                .hasMessageContaining("RESOURCE_EXHAUSTED");
    }

    @Test
    void serverThatAcceptsNoConnectionsFailsTheCallAtOnce() throws Exception {
        // Given a kubelet that is stopped: its queue of connections is full
        List<SocketChannel> waiting = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            waiting.add(SocketChannel.open(UnixDomainSocketAddress.of(socket)));
        }

        var result = call(DEADLINE);

        // EAGAIN, as Linux answers a connection for which there is no room
        assertThatThrownBy(result::join)
                .hasCauseInstanceOf(SocketException.class)
                .hasMessageContaining("Resource temporarily unavailable");
        for (SocketChannel each : waiting) {
            each.close();
        }
    }
}
