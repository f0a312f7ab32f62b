package io.gpufleet.nodedaemon.state;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file whose modification time is the last restart that the process requested; limits restarts to one an hour. */
public record RestartRateLimit(Path runDirectory) {
    private static final Logger LOG = LoggerFactory.getLogger(RestartRateLimit.class);
    private static final Duration MIN_INTERVAL = Duration.ofHours(1);
    private static final String NAME = "restarted";

    /** Whether the process may restart now; records it if so. A directory that cannot be written allows no restart. */
    public boolean tryAcquire(Instant now) {
        Path file = runDirectory.resolve(NAME);
        try {
            if (Files.exists(file)
                    && Duration.between(Files.getLastModifiedTime(file).toInstant(), now)
                                    .abs()
                                    .compareTo(MIN_INTERVAL)
                            < 0) {
                return false;
            }
            Files.createDirectories(runDirectory);
            if (!Files.exists(file)) {
                Files.createFile(file);
            }
            Files.setLastModifiedTime(file, FileTime.from(now));
            return true;
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", e.toString())
                    .log("cannot be written, process is not restarted");
            return false;
        }
    }
}
