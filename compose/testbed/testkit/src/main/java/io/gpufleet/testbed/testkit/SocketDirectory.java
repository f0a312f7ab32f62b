package io.gpufleet.testbed.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Directories with names so short that a Unix socket in them has a path of less than 108 bytes. */
public final class SocketDirectory {
    private SocketDirectory() {}

    /** An empty directory, deleted with all it then holds when this JVM ends. */
    public static Path create() {
        try {
            Path directory = Files.createTempDirectory("s");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory), "socket-directory-end"));
            return directory;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException alreadyGone) {
            // The test deleted it, or a socket went meanwhile: nobody is left to be told.
        }
    }
}
