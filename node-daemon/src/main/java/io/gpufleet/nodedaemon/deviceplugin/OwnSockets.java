package io.gpufleet.nodedaemon.deviceplugin;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** The sockets that this process serves in one of the kubelet's directories. */
final class OwnSockets {
    private static final String PREFIX = "gpufleet-";
    /** A socket's path has 107 bytes at most, and the directory needs most of them. */
    private static final int WORD_LENGTH = 32;

    private final Path directory;
    private final long epoch;
    private final AtomicInteger serial = new AtomicInteger();

    OwnSockets(Path directory, long epoch) {
        this.directory = directory;
        this.epoch = epoch;
    }

    Path directory() {
        return directory;
    }

    /** Never the same name twice: an old kubelet client keyed by name must not meet a new server. */
    Path next(String resource) {
        String word = resource.substring(resource.indexOf('/') + 1);
        return directory.resolve(PREFIX + word.substring(0, Math.min(word.length(), WORD_LENGTH)) + "-" + epoch + "-"
                + serial.incrementAndGet() + ".sock");
    }

    /** Removes what earlier starts left behind; blocks. */
    void removeLeftovers() {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(directory, PREFIX + "*.sock")) {
            for (Path socket : sockets) {
                boolean ours = socket.getFileName().toString().contains("-" + epoch + "-");
                if (!ours && !PluginDirectory.answers(socket)) {
                    Files.deleteIfExists(socket);
                }
            }
        } catch (IOException | DirectoryIteratorException leftThere) {
            // A leftover does no harm: the next start has another name.
        }
    }
}
