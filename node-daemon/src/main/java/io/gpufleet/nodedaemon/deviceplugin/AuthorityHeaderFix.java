package io.gpufleet.nodedaemon.deviceplugin;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Headers;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;

/**
 * Accepts calls with any {@code :authority} or {@code host}, or none: older kubelets and the plugin watcher send the path of
 * the socket, percent-encoded or not. Vert.x 5.0.7 resets such streams: its parser reads the two digits after a % at the wrong index.
 * The authority has no meaning on a unix socket, so it is replaced before Vert.x parses it. This uses an internal type of
 * Vert.x; a test fails when that no longer works.
 */
final class AuthorityHeaderFix {
    private static final String PLAIN = "localhost";

    private AuthorityHeaderFix() {}

    /** Accepts any authority on a new connection. */
    static void accept(HttpConnection opened) {
        if (opened instanceof ConnectionBase connection
                && connection.channelHandlerContext().pipeline().get(Http2ConnectionHandler.class)
                        instanceof Http2ConnectionHandler http2) {
            http2.decoder().frameListener(new PlainAuthority(http2.decoder().frameListener()));
        }
    }

    private static final class PlainAuthority extends Http2FrameListenerDecorator {
        private PlainAuthority(Http2FrameListener listener) {
            super(listener);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean last)
                throws Http2Exception {
            super.onHeadersRead(context, stream, plain(headers), padding, last);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context,
                int stream,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean last)
                throws Http2Exception {
            super.onHeadersRead(context, stream, plain(headers), dependency, weight, exclusive, padding, last);
        }

        /** Trailers have no method, and no authority. */
        private static Http2Headers plain(Http2Headers headers) {
            if (headers.method() != null) {
                headers.authority(PLAIN);
                headers.remove(HttpHeaderNames.HOST);
            }
            return headers;
        }
    }
}
