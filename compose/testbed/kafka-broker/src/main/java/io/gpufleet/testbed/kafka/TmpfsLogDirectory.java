package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A log directory in the memory file system of Linux, for a broker that ends with its tests. Half of the CPU time of
 * creating all topics is the file system's; where there is no such memory the log is on disk.
 *
 * @param link path at which the broker finds its log
 */
record TmpfsLogDirectory(Path link) {
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final String PREFIX = "gpufleet-broker-";
    private static final long MIN_FREE_BYTES = 4L << 30;
    /** A broker writes its checkpoints every minute: what is older was left by a JVM that was killed. */
    private static final Duration ABANDONED = Duration.ofHours(1);

    /** Makes the directory, unless the link or a directory on disk is there already. */
    void create() throws IOException {
        if (Files.exists(link) || !Files.isWritable(MEMORY)) {
            return;
        }
        removeAbandoned();
        if (Files.getFileStore(MEMORY).getUsableSpace() >= MIN_FREE_BYTES) {
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, Files.createTempDirectory(MEMORY, PREFIX));
        }
    }

    /** Deletes directory and link; leaves a directory on disk as it is. */
    void delete() throws IOException {
        Optional<Path> target = target();
        if (target.isPresent()) {
            deleteAll(target.get());
            Files.deleteIfExists(link);
        }
    }

    private Optional<Path> target() throws IOException {
        return Files.isSymbolicLink(link) ? Optional.of(Files.readSymbolicLink(link)) : Optional.empty();
    }

    private static void removeAbandoned() throws IOException {
        Instant before = Instant.now().minus(ABANDONED);
        try (Stream<Path> all = Files.list(MEMORY)) {
            for (Path each : all.filter(path -> path.getFileName().toString().startsWith(PREFIX))
                    .toList()) {
                removeIfOlder(each, before);
            }
        }
    }

    private static void removeIfOlder(Path directory, Instant before) throws IOException {
        try {
            if (Files.exists(directory, LinkOption.NOFOLLOW_LINKS)
                    && Files.getLastModifiedTime(directory).toInstant().isBefore(before)) {
                deleteAll(directory);
            }
        } catch (NoSuchFileException | UncheckedIOException failed) {
            // Another process that starts a broker removes it now.
            if (!(failed instanceof NoSuchFileException) && !(failed.getCause() instanceof NoSuchFileException)) {
                throw failed;
            }
        }
    }

    private static void deleteAll(Path directory) throws IOException {
        List<Path> all;
        try (Stream<Path> files = Files.walk(directory)) {
            all = files.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path each : all) {
            Files.deleteIfExists(each);
        }
    }
}
