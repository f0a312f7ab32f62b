package io.gpufleet.nodedaemon.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file that remembers when the process last ended in order to be started anew, so that this is no loop. */
public record RestartMark(Path runDirectory) {
    private static final Logger LOG = LoggerFactory.getLogger(RestartMark.class);
    private static final Duration APART = Duration.ofHours(1);
    private static final String NAME = "started-anew";

    /** Whether the process may end now; marks it if so. A directory that can not be written allows none. */
    public boolean allows(Instant now) {
        Path mark = runDirectory.resolve(NAME);
        try {
            if (Files.exists(mark)
                    && Duration.between(Files.getLastModifiedTime(mark).toInstant(), now)
                                    .abs()
                                    .compareTo(APART)
                            < 0) {
                return false;
            }
            Files.createDirectories(runDirectory);
            if (!Files.exists(mark)) {
                Files.createFile(mark);
            }
            Files.setLastModifiedTime(mark, FileTime.from(now));
            return true;
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("file", mark)
                    .addKeyValue("error", e.toString())
                    .log("can not be written, the process is not started anew");
            return false;
        }
    }
}
