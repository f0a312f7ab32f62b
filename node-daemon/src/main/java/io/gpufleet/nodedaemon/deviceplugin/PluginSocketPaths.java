package io.gpufleet.nodedaemon.deviceplugin;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** Paths of this process's sockets in one of the kubelet's directories: {@code gpufleet-RESOURCE-EPOCH-NUMBER.sock}. */
final class PluginSocketPaths {
    private static final String PREFIX = "gpufleet-";
    /** The path of a socket has at most 107 bytes, and the directory takes most of them. */
    private static final int MAX_NAME_LENGTH = 32;

    private final Path directory;
    private final long epoch;
    private final AtomicInteger serial = new AtomicInteger();

    PluginSocketPaths(Path directory, long epoch) {
        this.directory = directory;
        this.epoch = epoch;
    }

    Path directory() {
        return directory;
    }

    /** Never returns a name twice: an old kubelet client that is keyed by name must not reach a new server. */
    Path nextPath(String resource) {
        String name = resource.substring(resource.indexOf('/') + 1);
        return directory.resolve(PREFIX + name.substring(0, Math.min(name.length(), MAX_NAME_LENGTH)) + "-" + epoch
                + "-" + serial.incrementAndGet() + ".sock");
    }

    /** Removes the sockets of earlier daemons; blocks. */
    void removeStaleSockets() {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(directory, PREFIX + "*.sock")) {
            for (Path socket : sockets) {
                boolean ours = socket.getFileName().toString().contains("-" + epoch + "-");
                if (!ours && !DevicePluginsDirectory.isServed(socket)) {
                    Files.deleteIfExists(socket);
                }
            }
        } catch (IOException | DirectoryIteratorException failed) {
            // A stale socket is harmless: names are never reused.
        }
    }
}
