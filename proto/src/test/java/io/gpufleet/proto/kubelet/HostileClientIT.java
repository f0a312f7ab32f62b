package io.gpufleet.proto.kubelet;

import static io.gpufleet.proto.kubelet.RawHttp2Peer.call;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.frame;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.message;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.number;
import static io.gpufleet.proto.kubelet.RawHttp2Peer.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.gpufleet.proto.kubelet.RawHttp2Peer.Frame;
import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Clients that send frames no kubelet sends, stop in between, or do not read: they harm their own connection alone. */
class HostileClientIT {
    private static final String OPTIONS = KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS.path();
    private static final String WATCH = KubeletMethods.LIST_AND_WATCH.path();
    private static final byte[] NOTHING = {};
    private static final int MEBIBYTE = 1 << 20;
    private static final int FRAME = 1 << 14;

    private final EventLoop loop = EventLoops.open("unix-grpc");
    private final UnixGrpcServer server = new UnixGrpcServer(loop);
    private final UnixGrpcClient client = new UnixGrpcClient(loop);
    private final List<GrpcServerCall> watching = new CopyOnWriteArrayList<>();
    private final AtomicInteger closed = new AtomicInteger();
    private Path socket = Path.of("");
    private ServedSocket served;

    @BeforeEach
    void serve() throws IOException {
        socket = Files.createTempDirectory("grpc").resolve("s.sock");
        server.serve(KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, (_, call) -> call.respond(NOTHING));
        server.serve(KubeletMethods.LIST_AND_WATCH, (_, call) -> {
            watching.add(call);
            call.onClosed(closed::incrementAndGet);
            call.send(NOTHING);
        });
        served = server.listen(socket).toCompletableFuture().join();
    }

    @AfterEach
    void close() throws Exception {
        served.close().toCompletableFuture().get(20, TimeUnit.SECONDS);
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        Files.deleteIfExists(socket);
        Files.delete(socket.getParent());
    }

    private RawHttp2Peer connect(int... settings) throws IOException {
        return RawHttp2Peer.connect(socket, settings);
    }

    private void assertOthersAreAnswered() {
        assertThat(client.call(
                                socket,
                                KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS,
                                Empty.getDefaultInstance(),
                                Duration.ofSeconds(20))
                        .toCompletableFuture()
                        .join())
                .isNotNull();
    }

    private static int open(int stream) {
        return stream * 2 + 1;
    }

    @Test
    void trailersEndARequestLikeItsLastFrame() throws Exception {
        try (var peer = connect()) {
            peer.send(frame(RawHttp2Peer.HEADERS, RawHttp2Peer.END_HEADERS, 1, request(OPTIONS)))
                    .send(frame(RawHttp2Peer.DATA, 0, 1, message(NOTHING)))
                    .send(frame(
                            RawHttp2Peer.HEADERS,
                            RawHttp2Peer.END_HEADERS | RawHttp2Peer.END_STREAM,
                            1,
                            RawHttp2Peer.block(List.of("a-trailer", "1"))));
            // A call behind it, so that a server without an answer to the first is noticed.
            peer.send(call(3, OPTIONS, NOTHING));

            assertThat(peer.next(RawHttp2Peer.HEADERS).stream()).isEqualTo(1);
        }
    }

    @Test
    void connectionHasALimitOfOpenCallsAlsoBeforeItAcknowledgesTheSetting() throws Exception {
        try (var peer = connect()) {
            ByteBuffer settings =
                    ByteBuffer.wrap(peer.next(RawHttp2Peer.SETTINGS).payload());
            int limit = Integer.MAX_VALUE;
            while (settings.hasRemaining()) {
                int name = settings.getShort();
                int value = settings.getInt();
                limit = name == RawHttp2Peer.MAX_CONCURRENT_STREAMS ? value : limit;
            }
            assertThat(limit).isBetween(100, 1_000);

            for (int stream = 0; stream <= limit; stream++) {
                peer.send(frame(RawHttp2Peer.HEADERS, RawHttp2Peer.END_HEADERS, open(stream), request(OPTIONS)));
            }

            assertThat(peer.next(RawHttp2Peer.RST_STREAM).stream()).isEqualTo(open(limit));
            assertOthersAreAnswered();
        }
    }

    @Test
    void streamThatFailsByAnErrorOfTheClientIsClosedForItsHandler() throws Exception {
        try (var peer = connect()) {
            peer.send(call(1, WATCH, NOTHING));
            await().until(() -> watching.size() == 1);

            // When the client sends data after its end
            peer.send(frame(RawHttp2Peer.DATA, 0, 1, message(NOTHING)));

            await().until(() -> closed.get() == 1);
            assertThat(peer.end(1).type()).isEqualTo(RawHttp2Peer.RST_STREAM);
        }
        assertThat(closed).hasValue(1);
    }

    @Test
    void messagesThatAreNeverCompletedTakeNoMoreThanTheLargestMessage() throws Exception {
        byte[] part = frame(RawHttp2Peer.DATA, 0, 1, new byte[FRAME]);
        List<RawHttp2Peer> peers = new ArrayList<>();
        AtomicInteger refused = new AtomicInteger();
        // Given 40 connections that each send a MiB of 15 MiB
        byte[] first =
                ByteBuffer.allocate(FRAME).put((byte) 0).putInt(15 * MEBIBYTE).array();
        for (int i = 0; i < 40; i++) {
            var peer = connect();
            peers.add(peer);
            peer.send(frame(RawHttp2Peer.HEADERS, RawHttp2Peer.END_HEADERS, 1, request(OPTIONS)))
                    .send(frame(RawHttp2Peer.DATA, 0, 1, first));
            for (int sent = FRAME; sent < MEBIBYTE; sent += FRAME) {
                peer.send(part);
            }
            Thread.ofVirtual().start(() -> {
                try {
                    if (peer.end(1).text().contains("one after the other")) {
                        refused.incrementAndGet();
                    }
                } catch (IOException closed) {
                    // Of a call that was not refused.
                }
            });
        }

        await().until(() -> refused.get() >= 40 - UnixSocketGrpc.MAX_MESSAGE_SIZE / MEBIBYTE);
        assertOthersAreAnswered();
        for (RawHttp2Peer peer : peers) {
            peer.close();
        }

        // Then what they took is free again
        try (var peer = connect()) {
            peer.send(frame(RawHttp2Peer.HEADERS, RawHttp2Peer.END_HEADERS, 1, request(OPTIONS)))
                    .send(frame(RawHttp2Peer.DATA, 0, 1, first));
            for (int sent = FRAME; sent < 14 * MEBIBYTE; sent += FRAME) {
                peer.send(part);
            }
            peer.send(frame(RawHttp2Peer.PING, 0, 0, new byte[8]));
            assertThat(peer.next(RawHttp2Peer.PING).stream()).isZero();
        }
    }

    @Test
    void clientThatDoesNotReadIsNotReadFrom() throws Exception {
        try (var peer = connect(RawHttp2Peer.INITIAL_WINDOW_SIZE, Integer.MAX_VALUE)) {
            peer.channel().configureBlocking(false);
            byte[] refusedCall = call(1, "/no/such/method", NOTHING);
            int stalled = 0;
            long written = 0;
            ByteBuffer next = ByteBuffer.wrap(refusedCall);
            for (int stream = 0; stalled < 20 && written < 64 * MEBIBYTE; ) {
                int bytes = peer.channel().write(next);
                written += bytes;
                if (!next.hasRemaining()) {
                    stream++;
                    next = ByteBuffer.wrap(call(open(stream), "/no/such/method", NOTHING));
                }
                if (bytes == 0) {
                    // The loop had a turn: what it could read it has read.
                    assertOthersAreAnswered();
                    stalled++;
                } else {
                    stalled = 0;
                }
            }

            assertThat(written).isLessThan(64 * MEBIBYTE);
        }
    }

    @Test
    void longPathIsRefusedInTheHeaderSizeOfItsClient() throws Exception {
        try (var peer = connect(RawHttp2Peer.MAX_HEADER_LIST_SIZE, 8192)) {
            peer.send(call(1, "/" + "%".repeat(6_000), NOTHING)).send(call(3, OPTIONS, NOTHING));

            Frame answer = peer.next(RawHttp2Peer.HEADERS);

            assertThat(answer.stream()).isEqualTo(1);
            assertThat(answer.text()).contains("grpc-status");
        }
    }

    @Test
    void textsOfRefusalsAreNotKeptInTheTableOfTheConnection() throws Exception {
        try (var peer = connect()) {
            peer.send(call(1, "/no/such/method", NOTHING)).send(call(3, "/no/such/method", NOTHING));

            assertThat(peer.end(1).text()).contains("/no/such/method");
            assertThat(peer.end(3).text()).contains("/no/such/method");
        }
    }

    @Test
    void requestThatIsCutAnywhereEndsWithItsConnection() throws Exception {
        byte[] watch = call(1, WATCH, NOTHING);
        for (int cut = 0; cut < watch.length; cut++) {
            try (var peer = connect()) {
                peer.send(Arrays.copyOf(watch, cut));
            }
        }

        assertOthersAreAnswered();
        assertThat(watching).isEmpty();
    }

    @Test
    void streamsThatAreResetAtOnceAreClosedOnceEach() throws Exception {
        try (var peer = connect()) {
            for (int stream = 0; stream < 100; stream++) {
                peer.send(call(open(stream), WATCH, NOTHING))
                        .send(frame(RawHttp2Peer.RST_STREAM, 0, open(stream), number(8)));
            }

            await().until(() -> closed.get() == 100);
        }
        assertOthersAreAnswered();
        assertThat(closed).hasValue(100);
    }

    @Test
    void stormOfResetsEndsItsConnectionAlone() throws Exception {
        try (var peer = connect()) {
            for (int stream = 0; stream < 5_000; stream++) {
                peer.send(frame(RawHttp2Peer.HEADERS, RawHttp2Peer.END_HEADERS, open(stream), request(OPTIONS)))
                        .send(frame(RawHttp2Peer.RST_STREAM, 0, open(stream), number(8)));
            }
            peer.awaitEnd();
        } catch (IOException reset) {
            assertThat(reset).hasMessageMatching("(?i).*(reset|broken pipe).*");
        }

        assertOthersAreAnswered();
    }

    @Test
    void headerBlockWithoutEndEndsItsConnectionAlone() throws Exception {
        try (var peer = connect()) {
            peer.send(frame(RawHttp2Peer.HEADERS, 0, 1, request(OPTIONS)));
            for (int i = 0; i < 10_000; i++) {
                peer.send(frame(RawHttp2Peer.CONTINUATION, 0, 1, RawHttp2Peer.block(List.of("x-" + i, "y"))));
            }
            peer.awaitEnd();
        } catch (IOException reset) {
            assertThat(reset).hasMessageMatching("(?i).*(reset|broken pipe).*");
        }

        assertOthersAreAnswered();
    }

    @Test
    void thousandConnectionsWithHalfAFrameLeaveTheKubeletItsAnswers() throws Exception {
        List<SocketChannel> silent = new ArrayList<>();
        byte[] headers = frame(RawHttp2Peer.HEADERS, RawHttp2Peer.END_HEADERS, 1, request(OPTIONS));
        try {
            for (int i = 0; i < 1_000; i++) {
                SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                silent.add(channel);
                new RawHttp2Peer(channel).send(Arrays.copyOf(headers, i % headers.length));
            }

            assertOthersAreAnswered();
        } finally {
            for (SocketChannel channel : silent) {
                channel.close();
            }
        }
        assertOthersAreAnswered();
    }

    @Test
    void clientThatEndsWithSomethingUnreadIsNoWarning() throws Exception {
        var warnings = new ListAppender<ILoggingEvent>();
        warnings.start();
        Logger log = (Logger) LoggerFactory.getLogger("io.netty.channel.DefaultChannelPipeline");
        log.addAppender(warnings);
        try (var peer = connect()) {
            peer.send(call(1, WATCH, NOTHING));
            await().until(() -> watching.size() == 1);
        }

        await().until(() -> closed.get() == 1);
        log.detachAppender(warnings);
        assertThat(warnings.list).isEmpty();
    }

    @Test
    void clientThatGoesAwayKeepsTheCallsThatItHas() throws Exception {
        try (var peer = connect()) {
            peer.send(call(1, WATCH, NOTHING));
            await().until(() -> watching.size() == 1);

            peer.send(frame(RawHttp2Peer.GOAWAY, 0, 0, new byte[8]));
            loop.submit(() -> watching.getFirst().send(new byte[3])).sync();

            assertThat(peer.next(RawHttp2Peer.DATA).payload()).hasSize(GrpcMessageReader.PREFIX);
            assertThat(peer.next(RawHttp2Peer.DATA).payload()).hasSize(GrpcMessageReader.PREFIX + 3);
            assertThat(closed).hasValue(0);
        }
        await().until(() -> closed.get() == 1);
    }

    @Test
    void endOfTheServerEndsUnansweredCallsOnce() throws Exception {
        try (var peer = connect()) {
            peer.send(call(1, WATCH, NOTHING))
                    .send(call(3, WATCH, NOTHING))
                    .send(frame(RawHttp2Peer.HEADERS, RawHttp2Peer.END_HEADERS, 5, request(OPTIONS)));
            await().until(() -> watching.size() == 2);

            served.close().toCompletableFuture().get(20, TimeUnit.SECONDS);

            peer.awaitEnd();
            assertThat(closed).hasValue(2);
        }
    }
}
