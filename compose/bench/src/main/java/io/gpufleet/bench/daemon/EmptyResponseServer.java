package io.gpufleet.bench.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * A gRPC server that answers every call with an empty message, as Register and an empty podresources List do. Called by
 * {@link RawGrpcClient} it gives the cost of measuring.
 */
final class EmptyResponseServer implements AutoCloseable {
    private static final int PREFACE = 24;
    private static final int MAX_REQUEST = 1 << 16;
    /** :status 200 and the content type; then grpc-status 0. Literals, as {@link RawGrpcClient} sends them. */
    private static final byte[] RESPONSE_HEADERS = header(new byte[] {(byte) 0x88, 0x0f, 0x10}, "application/grpc");

    private static final byte[] TRAILERS = header(header(new byte[] {0x00}, "grpc-status"), "0");
    private static final byte[] EMPTY = new byte[0];

    private final ServerSocketChannel server;
    private final Path socket;
    private final Consumer<byte[]> onRequest;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();

    /** Serves until closed; the callback runs before each answer, on a thread that may block. */
    EmptyResponseServer(Path socket, Consumer<byte[]> asked) throws IOException {
        this.socket = socket;
        this.onRequest = asked;
        Files.createDirectories(socket.getParent());
        Files.deleteIfExists(socket);
        this.server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
        Thread.ofPlatform().name("bench-accept").daemon(true).start(this::accept);
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel channel = server.accept();
                open.add(channel);
                Thread.ofPlatform().name("bench-serve").daemon(true).start(() -> serve(channel));
            }
        } catch (IOException closed) {
            // The end of this server.
        }
    }

    private void serve(SocketChannel channel) {
        try (var frames = new Http2Connection(channel)) {
            frames.skip(PREFACE);
            frames.open();
            var question = ByteBuffer.allocate(MAX_REQUEST);
            while (true) {
                frames.next();
                if (frames.type() == Http2Connection.DATA) {
                    frames.payloadTo(question);
                }
                if (frames.endsStream()) {
                    onRequest.accept(Arrays.copyOfRange(question.array(), 5, Math.max(5, question.position())));
                    question.clear();
                    frames.headers(frames.stream(), RESPONSE_HEADERS, false)
                            .message(frames.stream(), EMPTY, false)
                            .headers(frames.stream(), TRAILERS, true)
                            .flush();
                }
            }
        } catch (IOException hungUp) {
            open.remove(channel);
        }
    }

    private static byte[] header(byte[] before, String text) {
        byte[] block = Arrays.copyOf(before, before.length + 1 + text.length());
        block[before.length] = (byte) text.length();
        for (int i = 0; i < text.length(); i++) {
            block[before.length + 1 + i] = (byte) text.charAt(i);
        }
        return block;
    }

    @Override
    public void close() {
        try {
            server.close();
            for (SocketChannel channel : open) {
                channel.close();
            }
            Files.deleteIfExists(socket);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
