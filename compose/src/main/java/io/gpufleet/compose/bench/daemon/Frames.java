package io.gpufleet.compose.bench.daemon;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The frames of one HTTP/2 connection over a blocking socket, and no more of HTTP/2 than a measurement needs: header
 * blocks are never decoded, receive windows are opened once and never run dry. One thread uses it.
 */
final class Frames implements AutoCloseable {
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
    private static final int HEAD = 9;
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

    Frames(SocketChannel channel) {
        this.channel = channel;
    }

    /** The first frames of either end: windows as large as the protocol has them. */
    void open() throws IOException {
        head(6, SETTINGS, 0, 0);
        out.putShort((short) INITIAL_WINDOW_SIZE).putInt(LARGEST_WINDOW);
        head(4, WINDOW_UPDATE, 0, 0);
        out.putInt(LARGEST_WINDOW - STANDARD_WINDOW);
        flush();
    }

    /** Writes bytes that are no frame: a connection's preface. */
    Frames raw(byte[] bytes) {
        out.put(bytes);
        return this;
    }

    /** A header block, not sent before {@link #flush()}. */
    Frames headers(int onStream, byte[] block, boolean last) {
        head(block.length, HEADERS, END_HEADERS | (last ? END_STREAM : 0), onStream);
        out.put(block);
        return this;
    }

    /** One uncompressed gRPC message in one frame. */
    Frames message(int onStream, byte[] message, boolean last) {
        head(message.length + 5, DATA, last ? END_STREAM : 0, onStream);
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

    private void head(int payload, int ofType, int withFlags, int onStream) {
        out.putInt(payload << 8 | ofType).put((byte) withFlags).putInt(onStream);
    }

    /** Goes to the next frame of a call; what only keeps the connection alive is answered meanwhile. */
    void next() throws IOException {
        while (true) {
            in.position(in.position() + length);
            length = 0;
            need(HEAD);
            int word = in.getInt();
            type = word & 0xff;
            flags = in.get() & 0xff;
            stream = in.getInt() & Integer.MAX_VALUE;
            need(word >>> 8);
            length = word >>> 8;
            switch (type) {
                case DATA, HEADERS -> {
                    return;
                }
                case SETTINGS -> answer(0);
                case PING -> answer(length);
                case RST_STREAM -> reset(in.getInt(in.position()));
                case GOAWAY -> throw new EOFException("the other end goes away");
                default -> {}
            }
        }
    }

    /** A server that answered before it read the end of the question says so by a reset without an error. */
    private static void reset(int error) throws IOException {
        if (error != 0) {
            throw new IOException("the stream was reset with error " + error);
        }
    }

    private void answer(int echoed) throws IOException {
        if ((flags & ACK) == 0) {
            head(echoed, type, ACK, 0);
            out.put(in.duplicate().limit(in.position() + echoed));
            flush();
        }
    }

    /** Waits until so many bytes lie unread. */
    void need(int bytes) throws IOException {
        while (in.remaining() < bytes) {
            in.compact();
            int read = channel.read(in);
            in.flip();
            if (read < 0) {
                throw new EOFException("the connection ended");
            }
        }
    }

    /** Passes over bytes that are no frame. */
    void skip(int bytes) throws IOException {
        need(bytes);
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
