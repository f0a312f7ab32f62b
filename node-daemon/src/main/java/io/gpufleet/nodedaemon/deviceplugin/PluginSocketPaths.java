package io.gpufleet.nodedaemon.deviceplugin;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Paths of this process's sockets in one of the kubelet's directories: {@code gpufleet-RESOURCE-EPOCH-NUMBER.sock}. */
final class PluginSocketPaths {
    private static final String PREFIX = "gpufleet-";
    private static final Pattern NAME = Pattern.compile(PREFIX + ".+-(\\d+)-\\d+\\.sock");
    /** The path of a socket has at most 107 bytes, and the directory takes most of them. */
    private static final int MAX_NAME_LENGTH = 32;

    private final Path directory;
    private final String epoch;
    private final AtomicInteger serial = new AtomicInteger();
    private volatile boolean ended;

    PluginSocketPaths(Path directory, long epoch) {
        this.directory = directory;
        this.epoch = Long.toString(epoch);
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

    /** Removes the sockets of this process, which opens no other from now on; may be called again. */
    void end() {
        ended = true;
        boolean _ = remove(directory, epoch::equals, _ -> true);
    }

    /** Whether the process ends, so that no socket may be opened. */
    boolean ended() {
        return ended;
    }

    /**
     * Removes the sockets that earlier daemons left in a directory of the kubelet, if nobody listens on them; whether somebody
     * listens on one.
     */
    boolean removeStaleSockets(Path left) {
        return remove(left, other -> !other.equals(epoch), socket -> !DevicePluginsDirectory.isServed(socket));
    }

    /** Removes sockets by their epoch; whether one may not be removed. */
    private static boolean remove(Path left, Predicate<String> ofEpoch, Predicate<Path> removable) {
        boolean remains = false;
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(left, PREFIX + "*.sock")) {
            for (Path socket : sockets) {
                Matcher name = NAME.matcher(socket.getFileName().toString());
                if (name.matches() && ofEpoch.test(name.group(1)) && isSocket(socket)) {
                    if (removable.test(socket)) {
                        Files.deleteIfExists(socket);
                    } else {
                        remains = true;
                    }
                }
            }
        } catch (IOException | DirectoryIteratorException unreadable) {
            // A stale socket is harmless: names are never reused.
        }
        return remains;
    }

    private static boolean isSocket(Path path) throws IOException {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS)
                && Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                        .isOther();
    }
}
