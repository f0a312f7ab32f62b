package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.kit.files.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file {@code epoch}: the epoch of the newest daemon as a decimal number. Each start gets a greater one, so that no
 * event id is used twice.
 */
public final class EpochFile {
    private static final Logger LOG = LoggerFactory.getLogger(EpochFile.class);

    private EpochFile() {}

    /** The greater of Unix milliseconds and the saved epoch plus one; the clock alone if the file cannot be used. */
    public static long next(Path stateDirectory, long unixMillis) {
        Path file = stateDirectory.resolve("epoch");
        long epoch = Math.max(last(file) + 1, unixMillis);
        try {
            // If the clock is set back after a power cut, only the renamed file prevents a second use of the epoch.
            AtomicFile.write(
                    file, Long.toString(epoch).getBytes(StandardCharsets.US_ASCII), AtomicFile.Durability.POWER_CUT);
        } catch (IOException failed) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", failed.toString())
                    .log("epoch cannot be saved, clock used instead; check GPUFLEET_STATE_DIR");
        }
        return epoch;
    }

    private static long last(Path file) {
        try {
            return Long.parseLong(Files.readString(file).strip());
        } catch (IOException | NumberFormatException notSaved) {
            return 0;
        }
    }
}
