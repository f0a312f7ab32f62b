package io.gpufleet.nodedaemon.http;

import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers the requests of one connection, each once the response to the one before was written. */
final class OpsRequestHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final Logger LOG = LoggerFactory.getLogger(OpsRequestHandler.class);

    private final Function<FullHttpRequest, CompletableFuture<OpsResponse>> responses;

    private boolean answering;

    OpsRequestHandler(Function<FullHttpRequest, CompletableFuture<OpsResponse>> responses) {
        this.responses = responses;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.read();
    }

    /** Reads on after what was no whole request: the rest of one, or of one that is refused for its size. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (!answering) {
            context.read();
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        answering = true;
        if (request.decoderResult().isFailure()) {
            write(context, OpsResponse.text(HttpResponseStatus.BAD_REQUEST.code(), "no HTTP request\n"));
            return;
        }
        respond(request).whenComplete((response, failed) -> {
            if (failed == null) {
                write(context, response);
            } else {
                LOG.atError().addKeyValue("uri", request.uri()).setCause(failed).log("request failed");
                write(context, OpsResponse.text(HttpResponseStatus.INTERNAL_SERVER_ERROR.code(), failed + "\n"));
            }
        });
    }

    private CompletableFuture<OpsResponse> respond(FullHttpRequest request) {
        try {
            return responses.apply(request);
        } catch (RuntimeException failed) {
            return CompletableFuture.failedFuture(failed);
        }
    }

    private void write(ChannelHandlerContext context, OpsResponse response) {
        var content = ByteBufUtil.writeUtf8(context.alloc(), response.text());
        var message = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(response.status()), content);
        message.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, response.contentType())
                .setInt(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
        response.headers().forEach((name, value) -> message.headers().set(name, value));
        context.writeAndFlush(message).addListener(_ -> {
            answering = false;
            context.read();
        });
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failed) {
        LOG.atDebug().setCause(failed).log("connection closed");
        context.close();
    }
}
