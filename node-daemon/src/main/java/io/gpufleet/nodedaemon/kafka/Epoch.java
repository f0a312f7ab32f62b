package io.gpufleet.nodedaemon.kafka;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The number of this start, greater than that of every start before: no event id is ever used twice. */
public final class Epoch {
    private static final Logger LOG = LoggerFactory.getLogger(Epoch.class);

    private Epoch() {}

    /** The later of Unix milliseconds and one more than the last; also when nothing can be kept. */
    public static long next(Path stateDirectory, long unixMillis) {
        Path file = stateDirectory.resolve("epoch");
        long epoch = Math.max(last(file) + 1, unixMillis);
        Path next = stateDirectory.resolve("epoch.next");
        try {
            Files.createDirectories(stateDirectory);
            try (var channel = FileChannel.open(
                    next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(Long.toString(epoch).getBytes(StandardCharsets.US_ASCII)));
                channel.force(false);
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            // After a power cut with the clock set back, only the new name says that the number is used up.
            try (var directory = FileChannel.open(stateDirectory, StandardOpenOption.READ)) {
                directory.force(true);
            }
        } catch (IOException failed) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", failed.toString())
                    .log("the epoch can not be kept, so it rests on the clock alone; check GPUFLEET_STATE_DIR");
        }
        return epoch;
    }

    private static long last(Path file) {
        try {
            return Long.parseLong(Files.readString(file).strip());
        } catch (IOException | NumberFormatException nothingKept) {
            return 0;
        }
    }
}
