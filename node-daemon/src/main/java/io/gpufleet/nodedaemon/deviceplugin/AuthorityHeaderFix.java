package io.gpufleet.nodedaemon.deviceplugin;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

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
            http2.decoder().frameListener(plain(http2.decoder().frameListener()));
        }
    }

    /** Creates a proxy, since the method for headers with a priority has eight parameters. */
    private static Http2FrameListener plain(Http2FrameListener listener) {
        return (Http2FrameListener) Proxy.newProxyInstance(
                AuthorityHeaderFix.class.getClassLoader(),
                new Class<?>[] {Http2FrameListener.class},
                (_, method, arguments) -> forward(listener, method, arguments));
    }

    private static Object forward(Http2FrameListener listener, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("onHeadersRead")
                && arguments[2] instanceof Http2Headers headers
                && headers.method() != null) {
            headers.authority(PLAIN);
            headers.remove(HttpHeaderNames.HOST);
        }
        try {
            return method.invoke(listener, arguments);
        } catch (InvocationTargetException failed) {
            throw failed.getTargetException();
        }
    }
}
