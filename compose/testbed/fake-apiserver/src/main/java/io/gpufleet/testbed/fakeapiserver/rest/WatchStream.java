package io.gpufleet.testbed.fakeapiserver.rest;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.ServerWebSocket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** An open watch: sends events as lines or web socket frames, with bookmarks, until its end. */
final class WatchStream {
    private static final Duration BOOKMARK_INTERVAL = Duration.ofSeconds(20);

    private final Vertx vertx;
    private final WatchRequest watchRequest;
    private final Consumer<String> out;
    private final Runnable end;
    private final AtomicBoolean ended = new AtomicBoolean();

    private WatchStream(Vertx vertx, WatchRequest watching, Consumer<String> out, Runnable end) {
        this.vertx = vertx;
        this.watchRequest = watching;
        this.out = out;
        this.end = end;
    }

    static boolean isUpgrade(HttpServerRequest request) {
        return "websocket".equalsIgnoreCase(request.getHeader("upgrade"));
    }

    /** The stream of most clients: one JSON object per line. */
    static void overChunkedResponse(Vertx vertx, HttpServerRequest request, WatchRequest watching) {
        HttpServerResponse response = request.response();
        // All events pass one context, in the order of the store.
        Context context = vertx.getOrCreateContext();
        context.runOnContext(go -> {
            response.setChunked(true).putHeader("content-type", "application/json");
            response.writeHead();
            WatchStream stream = new WatchStream(
                    vertx,
                    watching,
                    line -> context.runOnContext(written -> {
                        if (!response.ended() && !response.closed()) {
                            response.write(line);
                        }
                    }),
                    () -> context.runOnContext(over -> {
                        if (!response.ended() && !response.closed()) {
                            response.end();
                        }
                    }));
            Runnable close = stream.start();
            response.closeHandler(closed -> close.run());
        });
    }

    /** The web socket of fabric8: one frame per event. */
    static void overWebSocket(Vertx vertx, HttpServerRequest request, WatchRequest watching) {
        request.toWebSocket().onSuccess(socket -> {
            Context context = vertx.getOrCreateContext();
            WatchStream stream = new WatchStream(
                    vertx,
                    watching,
                    line -> context.runOnContext(written -> writeFrame(socket, line)),
                    () -> context.runOnContext(over -> socket.close()));
            Runnable close = stream.start();
            socket.closeHandler(closed -> close.run());
        });
    }

    private static void writeFrame(ServerWebSocket socket, String line) {
        if (!socket.isClosed()) {
            socket.writeTextMessage(line);
        }
    }

    /** Starts the watch; returns the action that ends it. */
    private Runnable start() {
        Runnable unwatch = watchRequest.start(out);
        long bookmarks = vertx.setPeriodic(BOOKMARK_INTERVAL.toMillis(), tick -> watchRequest.bookmark(out));
        Runnable close = () -> {
            if (ended.compareAndSet(false, true)) {
                vertx.cancelTimer(bookmarks);
                unwatch.run();
            }
        };
        vertx.setTimer(Math.max(1, watchRequest.timeout().toMillis()), over -> {
            if (!ended.get()) {
                close.run();
                watchRequest.bookmark(out);
                end.run();
            }
        });
        return close;
    }
}
