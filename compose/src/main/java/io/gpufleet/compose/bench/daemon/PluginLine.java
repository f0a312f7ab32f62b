package io.gpufleet.compose.bench.daemon;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A gRPC client on one connection, one call at a time, which allocates nothing per call: what it costs itself is seen in
 * the figures of {@link EmptyAnswers}. One thread uses it.
 */
final class PluginLine implements AutoCloseable {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int LARGEST_ANSWER = 1 << 20;
    /** Compressed-flag and length before every message. */
    private static final int PREFIX = 5;

    private final Frames frames;
    private final ByteBuffer answer = ByteBuffer.allocate(LARGEST_ANSWER);
    private int stream = -1;

    private PluginLine(Frames frames) {
        this.frames = frames;
    }

    /** Connects to a plugin's socket. */
    static PluginLine to(Path socket) throws IOException {
        var channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            var frames = new Frames(channel);
            frames.raw(PREFACE).open();
            return new PluginLine(frames);
        } catch (IOException nobody) {
            channel.close();
            throw nobody;
        }
    }

    /** The request headers of a method, ready to be sent; every field is a literal, so no end keeps a table. */
    static byte[] method(String path) {
        var block = new ByteArrayOutputStream();
        block.write(0x83);
        block.write(0x86);
        literal(block, 0x04, path);
        literal(block, 0x01, "localhost");
        block.write(0x0f);
        literal(block, 0x10, "application/grpc");
        block.write(0x00);
        literal(block, 2, "te", "trailers");
        return block.toByteArray();
    }

    private static void literal(ByteArrayOutputStream block, int name, String value) {
        block.write(name);
        block.write(value.length());
        block.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    private static void literal(ByteArrayOutputStream block, int nameLength, String name, String value) {
        block.write(nameLength);
        block.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        block.write(value.length());
        block.writeBytes(value.getBytes(StandardCharsets.US_ASCII));
    }

    /** Asks; {@link #answer()} then has what came. Fails where the plugin refused. */
    void call(byte[] method, byte[] message) throws IOException {
        send(method, message);
        answer.clear();
        do {
            frames.next();
            if (frames.type() == Frames.DATA) {
                frames.payloadTo(answer);
            }
        } while (!frames.endsStream());
        if (answer.flip().remaining() < PREFIX) {
            throw new IOException("the plugin refused the call");
        }
        answer.position(PREFIX);
    }

    /** Begins a stream of messages. */
    void watch(byte[] method) throws IOException {
        send(method, new byte[0]);
        answer.clear();
    }

    /** Waits for the next message of the stream; {@link #answer()} then has it. */
    void next() throws IOException {
        answer.clear();
        do {
            frames.next();
            if (frames.type() == Frames.DATA) {
                frames.payloadTo(answer);
            }
            if (frames.endsStream()) {
                throw new IOException("the plugin ended its stream");
            }
        } while (answer.position() < PREFIX || answer.position() < PREFIX + answer.getInt(1));
        answer.flip().position(PREFIX);
    }

    /** The last message, valid until the next call. */
    ByteBuffer answer() {
        return answer;
    }

    private void send(byte[] method, byte[] message) throws IOException {
        stream += 2;
        frames.headers(stream, method, false).message(stream, message, true).flush();
    }

    @Override
    public void close() throws IOException {
        frames.close();
    }
}
