package io.gpufleet.compose.bench.daemon;

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
 * A gRPC server that answers every call with an empty message, which is what Register and an empty podresources List
 * have as answers. Asked by {@link PluginLine} it shows what the measuring itself costs.
 */
final class EmptyAnswers implements AutoCloseable {
    private static final int PREFACE = 24;
    private static final int LARGEST_QUESTION = 1 << 16;
    /** :status 200 and the content type; then grpc-status 0. Literals, as {@link PluginLine} sends them. */
    private static final byte[] HEAD = header(new byte[] {(byte) 0x88, 0x0f, 0x10}, "application/grpc");

    private static final byte[] TRAILER = header(header(new byte[] {0x00}, "grpc-status"), "0");
    private static final byte[] EMPTY = new byte[0];

    private final ServerSocketChannel server;
    private final Path socket;
    private final Consumer<byte[]> asked;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();

    /** Serves until closed; is told of every question before it is answered, on a thread that may block. */
    EmptyAnswers(Path socket, Consumer<byte[]> asked) throws IOException {
        this.socket = socket;
        this.asked = asked;
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
        try (var frames = new Frames(channel)) {
            frames.skip(PREFACE);
            frames.open();
            var question = ByteBuffer.allocate(LARGEST_QUESTION);
            while (true) {
                frames.next();
                if (frames.type() == Frames.DATA) {
                    frames.payloadTo(question);
                }
                if (frames.endsStream()) {
                    asked.accept(Arrays.copyOfRange(question.array(), 5, Math.max(5, question.position())));
                    question.clear();
                    frames.headers(frames.stream(), HEAD, false)
                            .message(frames.stream(), EMPTY, false)
                            .headers(frames.stream(), TRAILER, true)
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
