package io.gpufleet.testbed.testkit;

import java.nio.file.Files;
import java.nio.file.Path;

/** Directories of the checkout that is tested. */
public final class Repository {
    private Repository() {}

    /** The directory with {@code k8s/}, at or above the working directory. */
    public static Path root() {
        for (Path directory = Path.of("").toAbsolutePath(); directory != null; directory = directory.getParent()) {
            if (Files.isDirectory(directory.resolve("k8s"))) {
                return directory;
            }
        }
        throw new IllegalStateException("no checkout at or above " + Path.of("").toAbsolutePath());
    }

    /** The directory of a module, for example {@code compose/cli}. */
    public static Path module(String module) {
        return root().resolve(module);
    }
}
