package io.gpufleet.nodedaemon.deviceplugin;

import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Lets calls through whose {@code :authority} is the socket's path, percent-encoded or not, as older kubelets and the
 * plugin watcher send it. Vert.x 5.0.7 resets such streams: its parser looks for the two digits after a % at the wrong
 * place. On a unix socket the authority says nothing, so it is replaced before Vert.x reads it; that takes one look
 * behind the public types, and a test that fails when the look no longer finds anything.
 */
final class OddAuthority {
    private static final String PLAIN = "localhost";

    private OddAuthority() {}

    /** Accepts any authority on a connection that was just opened. */
    static void accept(HttpConnection opened) {
        if (opened instanceof ConnectionBase connection
                && connection.channelHandlerContext().pipeline().get(Http2ConnectionHandler.class)
                        instanceof Http2ConnectionHandler http2) {
            http2.decoder().frameListener(plain(http2.decoder().frameListener()));
        }
    }

    /** A proxy, since headers with a priority come by a method of eight parameters. */
    private static Http2FrameListener plain(Http2FrameListener listener) {
        return (Http2FrameListener) Proxy.newProxyInstance(
                OddAuthority.class.getClassLoader(),
                new Class<?>[] {Http2FrameListener.class},
                (_, method, arguments) -> forward(listener, method, arguments));
    }

    private static Object forward(Http2FrameListener listener, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("onHeadersRead")
                && arguments[2] instanceof Http2Headers headers
                && headers.authority() != null) {
            headers.authority(PLAIN);
        }
        try {
            return method.invoke(listener, arguments);
        } catch (InvocationTargetException failed) {
            throw failed.getTargetException();
        }
    }
}
