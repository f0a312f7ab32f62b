package io.gpufleet.bench.daemon;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The frames of one HTTP/2 connection over a blocking socket, as far as a measurement needs them: header blocks are not
 * decoded, receive windows are opened once to their maximum. For one thread.
 */
final class Http2Connection implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int END_STREAM = 0x1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int WINDOW_UPDATE = 8;
    private static final int END_HEADERS = 0x4;
    private static final int ACK = 0x1;
    private static final int FRAME_HEADER_SIZE = 9;
    private static final int BUFFER = 1 << 17;
    private static final int INITIAL_WINDOW_SIZE = 4;
    private static final int LARGEST_WINDOW = Integer.MAX_VALUE;
    private static final int STANDARD_WINDOW = 65_535;

    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER).flip();
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER);
    private int type;
    private int flags;
    private int stream;
    private int length;

    Http2Connection(SocketChannel channel) {
        this.channel = channel;
    }

    /** The first frames of either end: windows of maximum size. */
    void open() throws IOException {
        frameHeader(6, SETTINGS, 0, 0);
        out.putShort((short) INITIAL_WINDOW_SIZE).putInt(LARGEST_WINDOW);
        frameHeader(4, WINDOW_UPDATE, 0, 0);
        out.putInt(LARGEST_WINDOW - STANDARD_WINDOW);
        flush();
    }

    /** Writes the connection preface, which is no frame. */
    Http2Connection raw(byte[] bytes) {
        out.put(bytes);
        return this;
    }

    /** A header block, not sent before {@link #flush()}. */
    Http2Connection headers(int onStream, byte[] block, boolean last) {
        frameHeader(block.length, HEADERS, END_HEADERS | (last ? END_STREAM : 0), onStream);
        out.put(block);
        return this;
    }

    /** One uncompressed gRPC message in one frame. */
    Http2Connection message(int onStream, byte[] message, boolean last) {
        frameHeader(message.length + 5, DATA, last ? END_STREAM : 0, onStream);
        out.put((byte) 0).putInt(message.length).put(message);
        return this;
    }

    void flush() throws IOException {
        out.flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
        out.clear();
    }

    private void frameHeader(int payload, int ofType, int withFlags, int onStream) {
        out.putInt(payload << 8 | ofType).put((byte) withFlags).putInt(onStream);
    }

    /** Reads up to the next frame of a call; answers pings and settings on the way. */
    void next() throws IOException {
        while (true) {
            in.position(in.position() + length);
            length = 0;
            awaitReadable(FRAME_HEADER_SIZE);
            int word = in.getInt();
            type = word & 0xff;
            flags = in.get() & 0xff;
            stream = in.getInt() & Integer.MAX_VALUE;
            awaitReadable(word >>> 8);
            length = word >>> 8;
            switch (type) {
                case DATA, HEADERS -> {
                    return;
                }
                case SETTINGS -> acknowledge(0);
                case PING -> acknowledge(length);
                case RST_STREAM -> reset(in.getInt(in.position()));
                case GOAWAY -> throw new EOFException("the peer sent GOAWAY");
                default -> {}
            }
        }
    }

    /** A server that answered before it read the whole request resets the stream without an error. */
    private static void reset(int error) throws IOException {
        if (error != 0) {
            throw new IOException("the stream was reset with error " + error);
        }
    }

    private void acknowledge(int echoed) throws IOException {
        if ((flags & ACK) == 0) {
            frameHeader(echoed, type, ACK, 0);
            out.put(in.duplicate().limit(in.position() + echoed));
            flush();
        }
    }

    /** Waits until this many bytes are buffered. */
    void awaitReadable(int bytes) throws IOException {
        while (in.remaining() < bytes) {
            in.compact();
            int read = channel.read(in);
            in.flip();
            if (read < 0) {
                throw new EOFException("the connection ended");
            }
        }
    }

    /** Skips bytes that are no frame. */
    void skip(int bytes) throws IOException {
        awaitReadable(bytes);
        in.position(in.position() + bytes);
    }

    int type() {
        return type;
    }

    int stream() {
        return stream;
    }

    boolean endsStream() {
        return (flags & END_STREAM) != 0;
    }

    /** Appends the payload of a DATA frame. */
    void payloadTo(ByteBuffer target) {
        target.put(target.position(), in, in.position(), length).position(target.position() + length);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
