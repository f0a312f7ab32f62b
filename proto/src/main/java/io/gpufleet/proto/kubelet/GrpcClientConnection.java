package io.gpufleet.proto.kubelet;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.proto.kubelet.GrpcMessageReader.RefusedMessageException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.vertx.grpc.common.GrpcStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The client's end of a connection: one unary call. It belongs to one event loop. */
final class GrpcClientConnection<A> extends Http2FrameAdapter {
    private final GrpcMethod<?, A> method;
    private final CompletableFuture<A> result;
    private final Http2ConnectionHandler http2 = GrpcFrames.codec(false, this);
    private final GrpcMessageReader reader = new GrpcMessageReader(new ReceiveBudget(UnixSocketGrpc.MAX_MESSAGE_SIZE));

    GrpcClientConnection(GrpcMethod<?, A> method, CompletableFuture<A> result) {
        this.method = method;
        this.result = result;
        http2.connection().addListener(new Http2ConnectionAdapter() {
            @Override
            public void onStreamClosed(Http2Stream stream) {
                result.completeExceptionally(new IOException("the server ended the call without a status"));
            }
        });
    }

    /** The handler of a channel that is being opened, which puts those of the connection into it. */
    ChannelHandler handler() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new BackpressureHandler(), http2);
            }
        };
    }

    /** Makes the call, on a channel that is active. */
    void send(Channel channel, byte[] request, Duration deadline) {
        channel.closeFuture()
                .addListener(_ -> result.completeExceptionally(new IOException("the server closed the connection")));
        if (channel.isActive()) {
            send(channel.pipeline().context(http2), request, deadline);
        }
    }

    private void send(ChannelHandlerContext context, byte[] request, Duration deadline) {
        int id = http2.connection().local().incrementAndGetNextStreamId();
        Http2Headers headers = new DefaultHttp2Headers(false)
                .method("POST")
                .scheme("http")
                .path(method.path())
                .authority(UnixSocketGrpc.AUTHORITY)
                .set(GrpcFrames.CONTENT_TYPE, GrpcFrames.GRPC)
                .set("te", "trailers")
                .set("grpc-timeout", deadline.toMillis() + "m");
        http2.encoder().writeHeaders(context, id, headers, 0, false, context.newPromise());
        http2.encoder().writeData(context, id, GrpcFrames.message(request), 0, true, context.newPromise());
        http2.flush(context);
    }

    @Override
    public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings) throws Http2Exception {
        GrpcFrames.enlargeWindow(http2.connection());
    }

    @Override
    public void onHeadersRead(
            ChannelHandlerContext context,
            int id,
            Http2Headers headers,
            int dependency,
            short weight,
            boolean exclusive,
            int padding,
            boolean last) {
        onHeadersRead(context, id, headers, padding, last);
    }

    @Override
    public void onHeadersRead(ChannelHandlerContext context, int id, Http2Headers headers, int padding, boolean last) {
        CharSequence status = headers.get(GrpcFrames.GRPC_STATUS);
        if (status != null) {
            CharSequence text = headers.get(GrpcFrames.GRPC_MESSAGE);
            end(GrpcFrames.status(status), text == null ? "" : GrpcFrames.decoded(text.toString()));
        } else if (last || isError(headers.status())) {
            end(GrpcStatus.UNKNOWN, "the server answered with HTTP status " + headers.status());
        }
    }

    /** Trailers have no status of HTTP; those below 200 precede the response. */
    private static boolean isError(@Nullable CharSequence httpStatus) {
        return httpStatus != null && httpStatus.charAt(0) > '2';
    }

    @Override
    public int onDataRead(ChannelHandlerContext context, int id, ByteBuf data, int padding, boolean last) {
        int read = data.readableBytes() + padding;
        try {
            boolean _ = reader.add(data, last);
        } catch (RefusedMessageException refused) {
            end(refused.status(), String.valueOf(refused.getMessage()));
        }
        if (last) {
            end(GrpcStatus.UNKNOWN, "the server ended its response without a status");
        }
        return read;
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext context, int id, long error) {
        result.completeExceptionally(new IOException("the server reset the stream: " + error));
    }

    private void end(GrpcStatus status, String text) {
        if (status != GrpcStatus.OK) {
            result.completeExceptionally(new GrpcStatusException(status, text));
        } else if (reader.isWhole()) {
            parse(reader.take());
        } else {
            result.completeExceptionally(new GrpcStatusException(GrpcStatus.INTERNAL, "the response has no message"));
        }
    }

    private void parse(byte[] response) {
        try {
            result.complete(method.responses().parseFrom(response));
        } catch (InvalidProtocolBufferException unreadable) {
            result.completeExceptionally(unreadable);
        }
    }
}
