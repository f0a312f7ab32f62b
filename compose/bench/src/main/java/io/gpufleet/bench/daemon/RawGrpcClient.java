package io.gpufleet.bench.daemon;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A gRPC client on one connection, one call at a time, without allocations per call. Its own cost is measured against
 * {@link EmptyResponseServer}. For one thread.
 */
final class RawGrpcClient implements AutoCloseable {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int MAX_RESPONSE = 1 << 20;
    /** Compressed-flag and length before every message. */
    private static final int PREFIX = 5;

    private final Http2Connection frames;
    private final ByteBuffer response = ByteBuffer.allocate(MAX_RESPONSE);
    private int stream = -1;

    private RawGrpcClient(Http2Connection frames) {
        this.frames = frames;
    }

    /** Connects to a plugin's socket. */
    static RawGrpcClient connect(Path socket) throws IOException {
        var channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            var frames = new Http2Connection(channel);
            frames.raw(PREFACE).open();
            return new RawGrpcClient(frames);
        } catch (IOException nobody) {
            channel.close();
            throw nobody;
        }
    }

    /** The encoded request headers of a method; every field is a literal, so that neither end keeps a table. */
    static byte[] requestHeaders(String path) {
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

    /** Calls; {@link #response()} then has the message. An error status is an exception. */
    void call(byte[] method, byte[] message) throws IOException {
        send(method, message);
        response.clear();
        do {
            frames.next();
            if (frames.type() == Http2Connection.DATA) {
                frames.payloadTo(response);
            }
        } while (!frames.endsStream());
        if (response.flip().remaining() < PREFIX) {
            throw new IOException("the plugin refused the call");
        }
        response.position(PREFIX);
    }

    /** Opens a stream of messages. */
    void watch(byte[] method) throws IOException {
        send(method, new byte[0]);
        response.clear();
    }

    /** Waits for the next message of the stream, see {@link #response()}. */
    void next() throws IOException {
        response.clear();
        do {
            frames.next();
            if (frames.type() == Http2Connection.DATA) {
                frames.payloadTo(response);
            }
            if (frames.endsStream()) {
                throw new IOException("the plugin ended its stream");
            }
        } while (response.position() < PREFIX || response.position() < PREFIX + response.getInt(1));
        response.flip().position(PREFIX);
    }

    /** The last message, valid until the next call. */
    ByteBuffer response() {
        return response;
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
