package io.gpufleet.nodedaemon.kmsg;

import io.gpufleet.kit.files.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Saves the position in the kernel log over a restart. */
final class KmsgPositionFile {
    private static final Logger LOG = LoggerFactory.getLogger(KmsgPositionFile.class);

    private final Path file;
    private boolean writeFailed;

    KmsgPositionFile(Path stateDirectory) {
        this.file = stateDirectory.resolve("kmsg");
    }

    Optional<KmsgPosition> load(String bootId) {
        try {
            return KmsgPosition.parse(Files.readString(file), bootId);
        } catch (NoSuchFileException never) {
            return Optional.empty();
        } catch (IOException unreadable) {
            warnOnce(unreadable);
            return Optional.empty();
        }
    }

    void save(KmsgPosition position) {
        try {
            AtomicFile.write(file, position.format().getBytes(StandardCharsets.UTF_8), AtomicFile.Durability.PROCESS);
            writeFailed = false;
        } catch (IOException failed) {
            warnOnce(failed);
        }
    }

    private void warnOnce(IOException why) {
        if (!writeFailed) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", why.toString())
                    .log("kernel log position cannot be saved, a restart would skip unread records");
        }
        writeFailed = true;
    }
}
