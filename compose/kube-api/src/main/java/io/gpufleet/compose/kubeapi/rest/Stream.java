package io.gpufleet.compose.kubeapi.rest;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.ServerWebSocket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** One open watch: events in, lines or web socket frames out, bookmarks in between, an end. */
final class Stream {
    private static final Duration BETWEEN_BOOKMARKS = Duration.ofSeconds(20);

    private final Vertx vertx;
    private final Watching watching;
    private final Consumer<String> out;
    private final Runnable end;
    private final AtomicBoolean ended = new AtomicBoolean();

    private Stream(Vertx vertx, Watching watching, Consumer<String> out, Runnable end) {
        this.vertx = vertx;
        this.watching = watching;
        this.out = out;
        this.end = end;
    }

    static boolean isUpgrade(HttpServerRequest request) {
        return "websocket".equalsIgnoreCase(request.getHeader("upgrade"));
    }

    /** As the real server streams to most clients: one JSON object a line. */
    static void overChunks(Vertx vertx, HttpServerRequest request, Watching watching) {
        HttpServerResponse response = request.response();
        // Everything goes through one context, in the order in which the store told it.
        Context context = vertx.getOrCreateContext();
        context.runOnContext(go -> {
            response.setChunked(true).putHeader("content-type", "application/json");
            response.writeHead();
            Stream stream = new Stream(
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

    /** As fabric8 asks for it: one frame an event. */
    static void overWebSocket(Vertx vertx, HttpServerRequest request, Watching watching) {
        request.toWebSocket().onSuccess(socket -> {
            Context context = vertx.getOrCreateContext();
            Stream stream = new Stream(
                    vertx,
                    watching,
                    line -> context.runOnContext(written -> frame(socket, line)),
                    () -> context.runOnContext(over -> socket.close()));
            Runnable close = stream.start();
            socket.closeHandler(closed -> close.run());
        });
    }

    private static void frame(ServerWebSocket socket, String line) {
        if (!socket.isClosed()) {
            socket.writeTextMessage(line);
        }
    }

    /** Starts the watch and hands out what ends it. */
    private Runnable start() {
        Runnable unwatch = watching.start(out);
        long bookmarks = vertx.setPeriodic(BETWEEN_BOOKMARKS.toMillis(), tick -> watching.bookmark(out));
        Runnable close = () -> {
            if (ended.compareAndSet(false, true)) {
                vertx.cancelTimer(bookmarks);
                unwatch.run();
            }
        };
        vertx.setTimer(Math.max(1, watching.timeout().toMillis()), over -> {
            if (!ended.get()) {
                close.run();
                watching.bookmark(out);
                end.run();
            }
        });
        return close;
    }
}
