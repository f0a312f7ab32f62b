package io.gpufleet.testbed.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The AOT cache with which tests start a program: one process writes it at its exit, all later ones of the same build
 * start with less than half the CPU time. It works for jars only.
 *
 * @param jar the module's jar; the libraries are beside it in {@code lib}
 */
record ProgramCache(Path jar) {
    /** The cache of a module's build output; empty without a jar of the classes that are there. */
    static Optional<ProgramCache> of(Path target) {
        try (Stream<Path> files = Files.list(target)) {
            Optional<Path> jar = files.filter(file -> file.toString().endsWith("-SNAPSHOT.jar"))
                    .findFirst();
            if (jar.isEmpty() || newest(target.resolve("classes")).compareTo(modified(jar.get())) > 0) {
                return Optional.empty();
            }
            return jar.map(ProgramCache::new);
        } catch (IOException notBuilt) {
            return Optional.empty();
        }
    }

    /** The class path: jars only. */
    String classPath() {
        return jar + File.pathSeparator + libraries() + File.separator + "*";
    }

    /** Flags of a process that uses the cache; empty when there is none of this build and this JDK. */
    List<String> use() {
        return fresh() ? List.of("-XX:AOTCache=" + file(), "-Xlog:disable") : List.of();
    }

    /** Flags of a process that writes the cache to a file of its own; {@link #recorded} makes it known. */
    List<String> record(Path recording) {
        // The daemon ends without the JVM's exit work unless it is told that there is some.
        return List.of("-XX:AOTCacheOutput=" + recording, "-Dgpufleet.keep-class-data=true");
    }

    /** The process that wrote a file has ended; the file is there if it was not killed. */
    void recorded(Path recording) {
        try {
            if (Files.exists(recording)) {
                Files.move(recording, file(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** True when the cache was written after the jars; the JVM refuses one of other jars. */
    boolean fresh() {
        try {
            return Files.exists(file())
                    && modified(file()).compareTo(modified(jar)) > 0
                    && modified(file()).compareTo(newest(libraries())) > 0;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private Path libraries() {
        return jar.resolveSibling("lib");
    }

    private Path file() {
        return jar.resolveSibling("tests-" + Runtime.version() + ".aot");
    }

    private static FileTime newest(Path directory) throws IOException {
        FileTime newest = FileTime.fromMillis(0);
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                FileTime modified = modified(file);
                newest = modified.compareTo(newest) > 0 ? modified : newest;
            }
        }
        return newest;
    }

    private static FileTime modified(Path file) throws IOException {
        return Files.getLastModifiedTime(file);
    }
}
