package io.gpufleet.proto.kubelet;

import static io.gpufleet.proto.kubelet.RawHttp2Peer.call;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.frame;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.number;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.kubelet.RawHttp2Peer.Frame;
import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Responses that are written as one buffer keep to the windows and settings of their client. */
class WholeResponsesIT {
    private static final String OPTIONS = KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS.path();
    private static final byte[] NOTHING = {};
    private static final int RESPONSE = 10_000;
    private static final int CALLS = 10;
    private static final int FIRST_WINDOW = 65_535;
    private static final int HEADER_TABLE_SIZE = 1;
    private static final int STATUS_200 = 0x88;
    private static final int TABLE_OF_SIZE_0 = 0x20;

    private final EventLoop loop = EventLoops.open("unix-grpc");
    private final UnixGrpcServer server = new UnixGrpcServer(loop);
    private Path socket = Path.of("");
    private ServedSocket served;

    @BeforeEach
    void serve() throws IOException {
        socket = Files.createTempDirectory("grpc").resolve("s.sock");
        server.serve(KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, (_, call) -> call.respond(new byte[RESPONSE]));
        served = server.listen(socket).toCompletableFuture().join();
    }

    @AfterEach
    void close() throws Exception {
        served.close().toCompletableFuture().get(20, TimeUnit.SECONDS);
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        Files.deleteIfExists(socket);
        Files.delete(socket.getParent());
    }

    /** What the server sends for all that it was sent before: it answers a ping before it flushes, so the second one counts. */
    private static List<Frame> framesBeforePing(RawHttp2Peer peer) throws IOException {
        var frames = new ArrayList<Frame>();
        for (int pings = 0; pings < 2; pings++) {
            peer.send(frame(RawHttp2Peer.PING, 0, 0, new byte[8]));
            for (Frame next = peer.next(); next.type() != RawHttp2Peer.PING; next = peer.next()) {
                frames.add(next);
            }
        }
        return frames;
    }

    private static int dataBytes(List<Frame> frames) {
        return frames.stream()
                .filter(next -> next.type() == RawHttp2Peer.DATA)
                .mapToInt(next -> next.payload().length)
                .sum();
    }

    private static long ended(List<Frame> frames) {
        return frames.stream().filter(Frame::last).count();
    }

    @Test
    void responsesTogetherStayInTheWindowOfTheirConnection() throws Exception {
        try (var peer = RawHttp2Peer.connect(socket, RawHttp2Peer.INITIAL_WINDOW_SIZE, Integer.MAX_VALUE)) {
            for (int i = 0; i < CALLS; i++) {
                peer.send(call(2 * i + 1, OPTIONS, NOTHING));
            }
            List<Frame> before = framesBeforePing(peer);

            assertThat(dataBytes(before)).isEqualTo(FIRST_WINDOW);
            assertThat(ended(before)).isEqualTo(FIRST_WINDOW / RESPONSE);

            // When the client has read what it got
            peer.send(frame(RawHttp2Peer.WINDOW_UPDATE, 0, 0, number(CALLS * RESPONSE)));
            List<Frame> after = framesBeforePing(peer);

            assertThat(dataBytes(before) + dataBytes(after)).isEqualTo(CALLS * (RESPONSE + GrpcMessageReader.PREFIX));
            assertThat(ended(before) + ended(after)).isEqualTo(CALLS);
        }
    }

    @Test
    void responseThatIsLargerThanTheWindowOfItsStreamIsSentInParts() throws Exception {
        int window = 100;
        try (var peer = RawHttp2Peer.connect(socket, RawHttp2Peer.INITIAL_WINDOW_SIZE, window)) {
            peer.send(call(1, OPTIONS, NOTHING)).send(call(3, OPTIONS, NOTHING));
            assertThat(dataBytes(framesBeforePing(peer))).isEqualTo(2 * window);

            peer.send(frame(RawHttp2Peer.WINDOW_UPDATE, 0, 3, number(RESPONSE)));

            assertThat(peer.end(3).type()).isEqualTo(RawHttp2Peer.HEADERS);
        }
    }

    @Test
    void firstHeadersAfterSettingsTellTheSizeOfTheTable() throws Exception {
        try (var peer = RawHttp2Peer.connect(socket)) {
            peer.send(call(1, OPTIONS, NOTHING)).send(call(3, OPTIONS, NOTHING));
            assertThat(ended(framesBeforePing(peer))).isEqualTo(2);

            // When the client wants no table
            peer.send(RawHttp2Peer.settings(HEADER_TABLE_SIZE, 0))
                    .send(call(5, OPTIONS, NOTHING))
                    .send(call(7, OPTIONS, NOTHING));

            List<Frame> headers = framesBeforePing(peer).stream()
                    .filter(next -> next.type() == RawHttp2Peer.HEADERS && !next.last())
                    .toList();
            assertThat(headers)
                    .extracting(next -> Byte.toUnsignedInt(next.payload()[0]))
                    .containsExactly(TABLE_OF_SIZE_0, STATUS_200);
        }
    }

    @Test
    void clientThatGoesAwayGetsTheResponseOfItsLastCall() throws Exception {
        try (var peer = RawHttp2Peer.connect(socket)) {
            peer.send(call(1, OPTIONS, NOTHING));
            assertThat(ended(framesBeforePing(peer))).isEqualTo(1);

            peer.send(call(3, OPTIONS, NOTHING)).send(frame(RawHttp2Peer.GOAWAY, 0, 0, new byte[8]));

            assertThat(peer.end(3).type()).isEqualTo(RawHttp2Peer.HEADERS);
        }
    }
}
