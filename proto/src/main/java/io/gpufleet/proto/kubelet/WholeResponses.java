package io.gpufleet.proto.kubelet;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.nio.charset.StandardCharsets;

/**
 * Writes the response of a unary call as one buffer with its three frames, without Netty's queue for each stream and a promise
 * for each frame. The windows of the client hold for it as for every other frame.
 */
final class WholeResponses {
    private static final int FRAME_HEADER = 9;
    /** A client accepts frames of this size, whatever its settings. */
    private static final int FRAME = 1 << 14;

    private static final byte END_STREAM = 0x1;
    private static final byte END_HEADERS = 0x4;

    /** Status 200 by its number in the table of HTTP/2, and the content type as a literal that no table keeps. */
    private static final byte[] HEADERS = block(new byte[] {(byte) 0x88, 0x0f, 0x10}, "application/grpc");

    private static final byte[] TRAILERS = block(block(new byte[] {0x00}, "grpc-status"), "0");

    private final Http2ConnectionHandler http2;
    private final Http2Connection connection;
    private final Http2RemoteFlowController windows;
    /** The first header block after a client's settings tells the size of the encoder's table: only the encoder can write it. */
    private boolean encoderAheadOfSettings = true;

    WholeResponses(Http2ConnectionHandler http2) {
        this.http2 = http2;
        this.connection = http2.connection();
        this.windows = connection.remote().flowController();
    }

    private static byte[] block(byte[] before, String value) {
        byte[] text = value.getBytes(StandardCharsets.US_ASCII);
        byte[] block = new byte[before.length + 1 + text.length];
        System.arraycopy(before, 0, block, 0, before.length);
        block[before.length] = (byte) text.length;
        System.arraycopy(text, 0, block, before.length + 1, text.length);
        return block;
    }

    /** Notes that the client has sent settings. */
    void settingsRead() {
        encoderAheadOfSettings = false;
    }

    /** Notes that the encoder has written a header block. */
    void headersEncoded() {
        encoderAheadOfSettings = true;
    }

    /** Writes a response, not flushed; false, and nothing is written, where Netty's encoder has to do it. */
    boolean write(ChannelHandlerContext context, Http2Stream stream, byte[] message) {
        int data = GrpcMessageReader.PREFIX + message.length;
        if (!encoderAheadOfSettings
                || data > FRAME
                || data > windows.windowSize(stream)
                || data > windows.windowSize(connection.connectionStream())
                || windows.hasFlowControlled(stream)
                || !context.channel().isWritable()) {
            return false;
        }
        take(stream, data);
        take(connection.connectionStream(), data);
        ByteBuf frames = context.alloc().buffer(3 * FRAME_HEADER + HEADERS.length + data + TRAILERS.length);
        header(frames, HEADERS.length, Http2FrameTypes.HEADERS, END_HEADERS, stream);
        frames.writeBytes(HEADERS);
        header(frames, data, Http2FrameTypes.DATA, (byte) 0, stream);
        frames.writeByte(0).writeInt(message.length).writeBytes(message);
        header(frames, TRAILERS.length, Http2FrameTypes.HEADERS, (byte) (END_HEADERS | END_STREAM), stream);
        frames.writeBytes(TRAILERS);
        ChannelPromise written = context.newPromise();
        written.addListener(_ -> http2.closeStreamLocal(stream, written));
        var _ = context.write(frames, written);
        return true;
    }

    private void take(Http2Stream of, int bytes) {
        try {
            windows.incrementWindowSize(of, -bytes);
        } catch (Http2Exception overflow) {
            throw new IllegalStateException("a window that became smaller cannot overflow", overflow);
        }
    }

    private static void header(ByteBuf frames, int length, byte type, byte flags, Http2Stream stream) {
        frames.writeMedium(length).writeByte(type).writeByte(flags).writeInt(stream.id());
    }
}
