package io.gpufleet.nodedaemon.kmsg;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One record of /dev/kmsg, {@code priority,sequence,microseconds,flags[,…];text}.
 *
 * @param fromKernel whether the kernel printed it (facility 0, which programs cannot set)
 * @param sequence number of the record since boot
 * @param micros time since boot, by a clock that may differ from others by minutes
 * @param text first line of the record
 */
record KmsgRecord(boolean fromKernel, long sequence, long micros, String text) {
    private static final Pattern HEAD =
            Pattern.compile("(\\d{1,9}),(\\d{1,18}),(\\d{1,18}),[^;]{0,256};(.*)", Pattern.DOTALL);
    private static final int FACILITY_SHIFT = 3;

    /** Parses a line; empty for other lines, such as the dictionary behind a record. */
    static Optional<KmsgRecord> parse(String line) {
        Matcher matcher = HEAD.matcher(line);
        return matcher.matches()
                ? Optional.of(new KmsgRecord(
                        Integer.parseInt(matcher.group(1)) >> FACILITY_SHIFT == 0,
                        Long.parseLong(matcher.group(2)),
                        Long.parseLong(matcher.group(3)),
                        matcher.group(4)))
                : Optional.empty();
    }
}
