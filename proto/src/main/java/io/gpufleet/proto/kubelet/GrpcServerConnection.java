package io.gpufleet.proto.kubelet;

import io.gpufleet.proto.kubelet.GrpcMessageReader.RefusedMessageException;
import io.gpufleet.proto.kubelet.UnixGrpcServer.Binding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Connection.PropertyKey;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.ReadOnlyHttp2Headers;
import io.netty.util.AsciiString;
import io.vertx.grpc.common.GrpcStatus;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The server's end of a connection: reads requests, writes what the calls answer. It belongs to one event loop. */
final class GrpcServerConnection extends Http2FrameAdapter {
    private static final AsciiString POST = AsciiString.cached("POST");
    private static final AsciiString OK = AsciiString.cached("200");
    private static final AsciiString METHOD_NOT_ALLOWED = AsciiString.cached("405");
    private static final AsciiString UNSUPPORTED_MEDIA_TYPE = AsciiString.cached("415");
    private static final Http2Headers RESPONSE =
            ReadOnlyHttp2Headers.serverHeaders(false, OK, GrpcFrames.CONTENT_TYPE, GrpcFrames.GRPC);
    private static final Http2Headers SUCCEEDED =
            ReadOnlyHttp2Headers.trailers(false, GrpcFrames.GRPC_STATUS, AsciiString.cached("0"));

    private final Map<CharSequence, Binding<?>> bindings;
    private final Http2ConnectionHandler http2 = GrpcFrames.codec(true, this);
    private final PropertyKey request = http2.connection().newKey();
    private final ReceiveBudget budget;
    private final WholeResponses responses = new WholeResponses(http2);
    private final Set<GrpcServerCall> watched = new LinkedHashSet<>();
    private final ChannelHandlerContext context;
    /** Whether frames are being read; what is written meanwhile is flushed after the last one. */
    private boolean reading;

    /** The request of a stream while it is read. */
    private record PendingRequest(GrpcServerCall call, Binding<?> binding, GrpcMessageReader reader) {}

    private GrpcServerConnection(Map<CharSequence, Binding<?>> bindings, ReceiveBudget budget, Channel channel) {
        this.bindings = bindings;
        this.budget = budget;
        channel.pipeline().addLast(new BackpressureHandler(), http2);
        this.context = channel.pipeline().context(http2);
        http2.connection().addListener(new Http2ConnectionAdapter() {
            @Override
            public void onStreamClosed(Http2Stream stream) {
                streamClosed(stream);
            }
        });
        channel.closeFuture().addListener(_ -> List.copyOf(watched).forEach(this::closed));
    }

    static void open(Map<CharSequence, Binding<?>> bindings, ReceiveBudget budget, Channel channel) {
        var _ = new GrpcServerConnection(bindings, budget, channel);
    }

    /** By the client or by an error of the stream; one that we ended counts as closed with its connection. */
    private void streamClosed(Http2Stream stream) {
        if (stream.getProperty(request) instanceof PendingRequest pending) {
            byte[] _ = pending.reader().take();
            if (!pending.call().ended()) {
                closed(pending.call());
            }
        }
    }

    @Override
    public void onSettingsRead(ChannelHandlerContext ignored, Http2Settings settings) throws Http2Exception {
        responses.settingsRead();
        GrpcFrames.enlargeWindow(http2.connection());
    }

    @Override
    public void onHeadersRead(
            ChannelHandlerContext ignored,
            int id,
            Http2Headers headers,
            int dependency,
            short weight,
            boolean exclusive,
            int padding,
            boolean last) {
        onHeadersRead(ignored, id, headers, padding, last);
    }

    @Override
    public void onHeadersRead(ChannelHandlerContext ignored, int id, Http2Headers headers, int padding, boolean last) {
        Http2Stream stream = http2.connection().stream(id);
        if (stream.getProperty(request) instanceof PendingRequest pending) {
            // Trailers of a request have no meaning in gRPC, but end it.
            read(pending, Unpooled.EMPTY_BUFFER, last);
            return;
        }
        CharSequence type = headers.get(GrpcFrames.CONTENT_TYPE);
        if (!POST.contentEquals(String.valueOf(headers.method()))) {
            refuse(id, METHOD_NOT_ALLOWED);
        } else if (type == null || !AsciiString.of(type).startsWith(GrpcFrames.GRPC)) {
            refuse(id, UNSUPPORTED_MEDIA_TYPE);
        } else {
            begin(stream, headers, last);
        }
    }

    private void begin(Http2Stream stream, Http2Headers headers, boolean last) {
        var call = new GrpcServerCall(this, stream.id());
        Binding<?> binding = bindings.get(headers.path());
        if (binding == null) {
            call.refuse(GrpcStatus.UNIMPLEMENTED, "unknown method " + headers.path());
        } else if (last) {
            call.refuse(GrpcStatus.INTERNAL, "the request has no message");
        } else {
            stream.setProperty(request, new PendingRequest(call, binding, new GrpcMessageReader(budget)));
        }
    }

    private void refuse(int id, AsciiString httpStatus) {
        http2.encoder()
                .writeHeaders(
                        context, id, new DefaultHttp2Headers(false).status(httpStatus), 0, true, context.newPromise());
    }

    @Override
    public int onDataRead(ChannelHandlerContext ignored, int id, ByteBuf data, int padding, boolean last) {
        int read = data.readableBytes() + padding;
        if (http2.connection().stream(id).getProperty(request) instanceof PendingRequest pending) {
            read(pending, data, last);
        }
        return read;
    }

    /** Answers when the client has ended its request: one that is answered earlier has to be reset by its client. */
    private void read(PendingRequest pending, ByteBuf data, boolean last) {
        GrpcServerCall call = pending.call();
        if (call.ended()) {
            return;
        }
        reading = true;
        try {
            boolean whole = pending.reader().add(data, last);
            if (last && whole) {
                pending.binding().handle(pending.reader().take(), call);
            } else if (last) {
                call.refuse(GrpcStatus.INTERNAL, "the request ended within its message");
            }
        } catch (RefusedMessageException refused) {
            call.refuse(refused.status(), String.valueOf(refused.getMessage()));
            byte[] _ = pending.reader().take();
        } finally {
            reading = false;
        }
    }

    void watch(GrpcServerCall call) {
        if (context.channel().isActive()) {
            watched.add(call);
        } else {
            closed(call);
        }
    }

    private void closed(GrpcServerCall call) {
        watched.remove(call);
        call.closed();
    }

    /** Answers a call that has sent nothing; false, and sends nothing, where the message needs the other way. */
    boolean respond(GrpcServerCall call, byte[] message) {
        Http2Stream stream = http2.connection().stream(call.stream());
        if (stream != null && stream.state().localSideOpen() && responses.write(context, stream, message)) {
            flush();
            return true;
        }
        return false;
    }

    void send(GrpcServerCall call, boolean first, byte[] message, Runnable whenWritten) {
        if (isWritable(call)) {
            if (first) {
                http2.encoder().writeHeaders(context, call.stream(), RESPONSE, 0, false, context.newPromise());
                responses.headersEncoded();
            }
            http2.encoder()
                    .writeData(context, call.stream(), GrpcFrames.message(message), 0, false, context.newPromise())
                    .addListener(written -> {
                        if (!written.isSuccess()) {
                            closed(call);
                        } else if (!call.ended()) {
                            whenWritten.run();
                        }
                    });
            flush();
        }
    }

    void end(GrpcServerCall call, boolean withoutMessage, GrpcStatus status, String message) {
        if (isWritable(call)) {
            Http2Headers trailers =
                    status == GrpcStatus.OK && !withoutMessage ? SUCCEEDED : trailers(withoutMessage, status, message);
            http2.encoder().writeHeaders(context, call.stream(), trailers, 0, true, context.newPromise());
            flush();
        }
    }

    private static Http2Headers trailers(boolean withoutMessage, GrpcStatus status, String message) {
        Http2Headers trailers = new DefaultHttp2Headers(false);
        if (withoutMessage) {
            trailers.status(OK).set(GrpcFrames.CONTENT_TYPE, GrpcFrames.GRPC);
        }
        trailers.setInt(GrpcFrames.GRPC_STATUS, status.code);
        return message.isEmpty() ? trailers : trailers.set(GrpcFrames.GRPC_MESSAGE, GrpcFrames.encoded(message));
    }

    private boolean isWritable(GrpcServerCall call) {
        Http2Stream stream = http2.connection().stream(call.stream());
        return stream != null && stream.state().localSideOpen();
    }

    private void flush() {
        if (!reading) {
            http2.flush(context);
        }
    }
}
