package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The socket of a resource; one at a time. All calls on one event loop. */
final class PluginSocket {
    private final DevicePluginServer server;
    private final PluginSocketPaths socketPaths;
    private final String resource;
    private @Nullable ServedSocket served;
    private volatile @Nullable Path path;

    PluginSocket(DevicePluginServer server, PluginSocketPaths socketPaths, String resource) {
        this.server = server;
        this.socketPaths = socketPaths;
        this.resource = resource;
    }

    /** The current socket, or a new one with another name if its file was removed. */
    CompletionStage<Path> ensureServed() {
        Path current = path;
        return current != null && Files.exists(current) ? CompletableFuture.completedFuture(current) : reopen();
    }

    /** Replaces the socket by a new one with another name; fails once the process ends. */
    CompletionStage<Path> reopen() {
        if (socketPaths.ended()) {
            return CompletableFuture.failedFuture(new IllegalStateException("the daemon ends"));
        }
        ServedSocket old = served;
        removeFile();
        CompletionStage<?> ended = old == null ? CompletableFuture.completedFuture(false) : old.close();
        Path next = socketPaths.nextPath(resource);
        return ended.thenCompose(_ -> server.listen(next)).thenApply(opened -> {
            served = opened;
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
            // The end of this process tries again, and the next start.
        }
    }

    void close() {
        removeFile();
        if (served != null) {
            var _ = served.close();
        }
    }
}
