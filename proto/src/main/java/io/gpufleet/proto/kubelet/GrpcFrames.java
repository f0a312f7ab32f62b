package io.gpufleet.proto.kubelet;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import io.netty.util.AsciiString;
import io.vertx.grpc.common.GrpcStatus;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Parts that both ends of a gRPC connection share: its HTTP/2 codec, the frame of a message, the text of a status. */
final class GrpcFrames {
    static final AsciiString CONTENT_TYPE = AsciiString.cached("content-type");
    static final AsciiString GRPC = AsciiString.cached("application/grpc");
    static final AsciiString GRPC_STATUS = AsciiString.cached("grpc-status");
    static final AsciiString GRPC_MESSAGE = AsciiString.cached("grpc-message");

    /** Of a connection; a kubelet has one call for each container that is starting. A client waits with further calls. */
    private static final int MAX_STREAMS = 256;

    /** Length of a {@code grpc-message}: header blocks of more than 8 KiB are refused by many clients, and their call hangs. */
    private static final int MAX_TEXT = 2_048;

    /** A device list or request of thousands of replicas arrives without waiting for window updates. */
    private static final int WINDOW = 1 << 20;

    private GrpcFrames() {}

    /** Makes the codec of one end of a connection. */
    static Http2ConnectionHandler codec(boolean server, Http2FrameListener listener) {
        var connection = new DefaultHttp2Connection(server);
        connection
                .remote()
                .flowController(
                        new DefaultHttp2RemoteFlowController(connection, new UniformStreamByteDistributor(connection)));
        var settings = new Http2Settings().initialWindowSize(WINDOW);
        if (server) {
            settings.maxConcurrentStreams(MAX_STREAMS);
            // Also of a client that never acknowledges the setting.
            connection.remote().maxActiveStreams(MAX_STREAMS);
        }
        return new Http2ConnectionHandlerBuilder()
                .connection(connection)
                .frameListener(listener)
                // Never kept in the table of header fields, whose size is the peer's choice.
                .headerSensitivityDetector((name, _) -> GRPC_MESSAGE.equals(name))
                .initialSettings(server ? settings : settings.pushEnabled(false))
                .gracefulShutdownTimeoutMillis(0)
                .build();
    }

    /** Enlarges the window of the whole connection, which no setting does. */
    static void enlargeWindow(Http2Connection connection) throws Http2Exception {
        connection.local().flowController().incrementWindowSize(connection.connectionStream(), WINDOW);
    }

    /** The bytes of a DATA frame with one message. */
    static ByteBuf message(byte[] message) {
        byte[] framed = new byte[GrpcMessageReader.PREFIX + message.length];
        ByteBuf frame = Unpooled.wrappedBuffer(framed);
        frame.setInt(1, message.length);
        System.arraycopy(message, 0, framed, GrpcMessageReader.PREFIX, message.length);
        return frame;
    }

    /** Percent-encodes what is not printable ASCII, as gRPC does in {@code grpc-message}; a long text is cut. */
    static String encoded(String message) {
        var text = new StringBuilder();
        for (byte each : message.getBytes(StandardCharsets.UTF_8)) {
            if (text.length() >= MAX_TEXT) {
                break;
            }
            if (each >= ' ' && each <= '~' && each != '%') {
                text.append((char) each);
            } else {
                text.append('%').append(HexFormat.of().withUpperCase().toHexDigits(each));
            }
        }
        return text.toString();
    }

    /** The text of a {@code grpc-message}; one that is not encoded correctly is taken as it is. */
    static String decoded(String message) {
        try {
            return URLDecoder.decode(message.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException plain) {
            return message;
        }
    }

    /** The status of a {@code grpc-status}; one that does not exist is UNKNOWN. */
    static GrpcStatus status(CharSequence code) {
        try {
            GrpcStatus status = GrpcStatus.valueOf(Integer.parseInt(code.toString()));
            return status == null ? GrpcStatus.UNKNOWN : status;
        } catch (NumberFormatException none) {
            return GrpcStatus.UNKNOWN;
        }
    }
}
