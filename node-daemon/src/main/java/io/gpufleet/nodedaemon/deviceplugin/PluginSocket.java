package io.gpufleet.nodedaemon.deviceplugin;

import io.vertx.core.Future;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The socket of a resource; one at a time. All calls on one context. */
final class PluginSocket {
    private final DevicePluginServer server;
    private final PluginSocketPaths socketPaths;
    private final String resource;
    private @Nullable HttpServer httpServer;
    private volatile @Nullable Path path;

    PluginSocket(DevicePluginServer server, PluginSocketPaths socketPaths, String resource) {
        this.server = server;
        this.socketPaths = socketPaths;
        this.resource = resource;
    }

    /** The current socket, or a new one with another name if its file was removed. */
    Future<Path> ensureServed() {
        Path current = path;
        return current != null && Files.exists(current) ? Future.succeededFuture(current) : reopen();
    }

    /** Replaces the socket by a new one with another name. */
    Future<Path> reopen() {
        HttpServer old = httpServer;
        removeFile();
        Future<?> ended = old == null ? Future.succeededFuture() : old.close().otherwiseEmpty();
        Path next = socketPaths.nextPath(resource);
        return ended.compose(_ -> server.listen(next)).map(opened -> {
            httpServer = opened;
            path = next;
            return next;
        });
    }

    /** The path of the socket; empty before it is served. */
    Optional<Path> path() {
        return Optional.ofNullable(path);
    }

    /** Removes the file to prevent new connections; existing ones remain. */
    void removeFile() {
        try {
            Path current = path;
            if (current != null) {
                Files.deleteIfExists(current);
            }
        } catch (IOException failed) {
            // The next start removes stale sockets.
        }
    }

    void close() {
        removeFile();
        if (httpServer != null) {
            httpServer.close();
        }
    }
}
