package io.gpufleet.nodedaemon.state;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file {@code forget} by which an operator removes GPUs from those that the node should have: UUIDs or serial numbers,
 * separated by white space. It is deleted once it was applied.
 */
public final class ForgetFile {
    private static final Logger LOG = LoggerFactory.getLogger(ForgetFile.class);

    private final Path file;
    private final Consumer<Set<String>> forgotten;

    /** Reads a file of the run directory. */
    public ForgetFile(Path runDirectory, Consumer<Set<String>> forgotten) {
        this.file = runDirectory.resolve("forget");
        this.forgotten = forgotten;
    }

    /** Applies the file, if it exists. */
    public synchronized void check() {
        try {
            Set<String> names = Files.readString(file)
                    .lines()
                    .flatMap(line -> line.strip().isEmpty()
                            ? Stream.empty()
                            : Stream.of(line.strip().split("\\s+", -1)))
                    .collect(Collectors.toSet());
            if (names.isEmpty()) {
                return;
            }
            forgotten.accept(names);
            Files.delete(file);
        } catch (NoSuchFileException none) {
            // The usual case.
        } catch (IOException unreadable) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", unreadable.toString())
                    .log("GPUs to forget cannot be read, or the file not deleted");
        }
    }
}
