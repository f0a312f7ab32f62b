package io.gpufleet.proto.kubelet;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** One end of an HTTP/2 connection that sends exactly the frames of a test, right or wrong; it answers nothing by itself. */
final class RawHttp2Peer implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;
    static final int MAX_CONCURRENT_STREAMS = 3;
    static final int INITIAL_WINDOW_SIZE = 4;
    static final int MAX_HEADER_LIST_SIZE = 6;

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int FRAME_HEADER = 9;
    /** The largest number in the first byte of a length in a header block. */
    private static final int SHORT_LENGTH = 127;

    private final SocketChannel channel;

    /** A frame that was received. */
    record Frame(int type, int flags, int stream, byte[] payload) {
        /** The payload, with what is no ASCII replaced. */
        String text() {
            return new String(payload, StandardCharsets.US_ASCII);
        }

        boolean last() {
            return (type == DATA || type == HEADERS) && (flags & END_STREAM) != 0;
        }
    }

    RawHttp2Peer(SocketChannel channel) {
        this.channel = channel;
    }

    /** Connects as a client, with a preface and settings, each an identifier and a value. */
    static RawHttp2Peer connect(Path socket, int... settings) throws IOException {
        var peer = new RawHttp2Peer(SocketChannel.open(UnixDomainSocketAddress.of(socket)));
        return peer.send(PREFACE).send(settings(settings));
    }

    static byte[] settings(int... settings) {
        ByteBuffer payload = ByteBuffer.allocate(settings.length * 3);
        for (int i = 0; i < settings.length; i += 2) {
            payload.putShort((short) settings[i]).putInt(settings[i + 1]);
        }
        return frame(SETTINGS, 0, 0, payload.array());
    }

    static byte[] frame(int type, int flags, int stream, byte[] payload) {
        return ByteBuffer.allocate(FRAME_HEADER + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }

    static byte[] number(int value) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
    }

    /** A header block without any compression, of names and values. */
    static byte[] block(List<String> namesAndValues) {
        var block = new ByteArrayOutputStream();
        for (int i = 0; i < namesAndValues.size(); i += 2) {
            block.write(0);
            literal(block, namesAndValues.get(i));
            literal(block, namesAndValues.get(i + 1));
        }
        return block.toByteArray();
    }

    private static void literal(ByteArrayOutputStream block, String text) {
        int rest = text.length() - SHORT_LENGTH;
        block.write(Math.min(text.length(), SHORT_LENGTH));
        if (rest >= 0) {
            for (; rest > SHORT_LENGTH; rest >>>= 7) {
                block.write(rest & SHORT_LENGTH | 0x80);
            }
            block.write(rest);
        }
        block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** The header block of a gRPC request. */
    static byte[] request(String path) {
        return block(List.of(
                ":method",
                "POST",
                ":scheme",
                "http",
                ":path",
                path,
                "content-type",
                "application/grpc",
                "te",
                "trailers"));
    }

    /** The frames of a whole gRPC call. */
    static byte[] call(int stream, String path, byte[] message) {
        byte[] headers = frame(HEADERS, END_HEADERS, stream, request(path));
        byte[] data = frame(DATA, END_STREAM, stream, message(message));
        return ByteBuffer.allocate(headers.length + data.length)
                .put(headers)
                .put(data)
                .array();
    }

    /** A message with its prefix. */
    static byte[] message(byte[] message) {
        return ByteBuffer.allocate(GrpcMessageReader.PREFIX + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .array();
    }

    RawHttp2Peer send(byte[] bytes) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
            channel.write(left);
        }
        return this;
    }

    SocketChannel channel() {
        return channel;
    }

    /** The next frame; an {@link EOFException} at the end of the connection. */
    Frame next() throws IOException {
        ByteBuffer header = ByteBuffer.wrap(read(FRAME_HEADER));
        int word = header.getInt();
        int flags = header.get();
        int stream = header.getInt();
        return new Frame(word & 0xff, flags, stream, read(word >>> 8));
    }

    private byte[] read(int count) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(count);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                throw new EOFException("the other end closed the connection");
            }
        }
        return bytes.array();
    }

    /** Reads up to the next frame of a type. */
    Frame next(int type) throws IOException {
        while (true) {
            Frame frame = next();
            if (frame.type() == type) {
                return frame;
            }
        }
    }

    /** Reads up to the frame that ends a stream of the other end. */
    Frame end(int stream) throws IOException {
        while (true) {
            Frame frame = next();
            if (frame.stream() == stream && (frame.last() || frame.type() == RST_STREAM)) {
                return frame;
            }
        }
    }

    /** Reads until the other end closes the connection. */
    void awaitEnd() throws IOException {
        ByteBuffer rest = ByteBuffer.allocate(1 << 16);
        while (channel.read(rest) >= 0) {
            rest.clear();
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
