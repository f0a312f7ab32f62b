package io.gpufleet.wire.json;

import com.google.protobuf.util.Timestamps;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Refuses times of JSON that no calendar has, such as the 30th of February. Until 2027 protobuf takes them for other times and
 * warns in lines of its own; the filter of its logger is asked amid the parse, on the thread that parses.
 */
public final class NonexistentTimes {
    /** Kept, since a logger that nobody keeps is collected with its filter. */
    private static final Logger LOGGER = Logger.getLogger(Timestamps.class.getName());

    private NonexistentTimes() {}

    /** Refuses them from now on, in the whole process. */
    public static void refuse() {
        LOGGER.setLevel(Level.WARNING);
        LOGGER.setFilter(warning -> {
            // Without the sentence about 2027.
            throw new IllegalArgumentException(warning.getMessage().split("[.] ", 2)[0]);
        });
    }
}
