package io.gpufleet.nodedaemon.kmsg;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One record of /dev/kmsg, {@code priority,sequence,microseconds,flags[,…];text}.
 *
 * @param fromKernel whether the kernel printed it; the kernel lets no program claim so
 * @param sequence counts records since boot
 * @param micros since boot, by a clock that may differ from all others by minutes
 * @param text without what follows the first line
 */
record KernelRecord(boolean fromKernel, long sequence, long micros, String text) {
    private static final Pattern HEAD =
            Pattern.compile("(\\d{1,9}),(\\d{1,18}),(\\d{1,18}),[^;]{0,256};(.*)", Pattern.DOTALL);
    private static final int FACILITY_SHIFT = 3;

    /** Reads a line; empty for anything else, such as the dictionary that follows a record. */
    static Optional<KernelRecord> parse(String line) {
        Matcher matcher = HEAD.matcher(line);
        return matcher.matches()
                ? Optional.of(new KernelRecord(
                        Integer.parseInt(matcher.group(1)) >> FACILITY_SHIFT == 0,
                        Long.parseLong(matcher.group(2)),
                        Long.parseLong(matcher.group(3)),
                        matcher.group(4)))
                : Optional.empty();
    }
}
