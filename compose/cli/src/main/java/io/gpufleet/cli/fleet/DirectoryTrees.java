package io.gpufleet.cli.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Directory trees. */
public final class DirectoryTrees {
    private DirectoryTrees() {}

    /** Deletes a file, or a directory with all that is in it; an absent one is no error. */
    public static void delete(Path path) {
        if (!Files.exists(path)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(path)) {
            for (Path each : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(path + " cannot be removed", failed);
        }
    }
}
