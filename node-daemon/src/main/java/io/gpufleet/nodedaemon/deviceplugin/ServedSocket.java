package io.gpufleet.nodedaemon.deviceplugin;

import io.vertx.core.Future;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The one socket on which a resource is served at a time; all calls on one context. */
final class ServedSocket {
    private final PluginServer server;
    private final OwnSockets sockets;
    private final String resource;
    private @Nullable HttpServer listening;
    private volatile @Nullable Path path;

    ServedSocket(PluginServer server, OwnSockets sockets, String resource) {
        this.server = server;
        this.sockets = sockets;
        this.resource = resource;
    }

    /** The socket as it is, or another one under a new name where somebody removed it. */
    Future<Path> served() {
        Path current = path;
        return current != null && Files.exists(current) ? Future.succeededFuture(current) : anew();
    }

    /** Another one in any case. */
    Future<Path> anew() {
        HttpServer old = listening;
        removeFile();
        Future<?> ended = old == null ? Future.succeededFuture() : old.close().otherwiseEmpty();
        Path next = sockets.next(resource);
        return ended.compose(_ -> server.listen(next)).map(now -> {
            listening = now;
            path = next;
            return next;
        });
    }

    /** Where it is served; empty before it was for the first time. */
    Optional<Path> path() {
        return Optional.ofNullable(path);
    }

    /** Nobody is to come any more; connections end with the process. */
    void removeFile() {
        try {
            Path current = path;
            if (current != null) {
                Files.deleteIfExists(current);
            }
        } catch (IOException leftThere) {
            // The next start removes what is left behind.
        }
    }

    void close() {
        removeFile();
        if (listening != null) {
            listening.close();
        }
    }
}
