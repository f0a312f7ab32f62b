package io.gpufleet.nodedaemon.kmsg;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Position in the kernel log, saved as one line {@code <bootId> <sequence> <historyMicros>}.
 *
 * @param bootId boot to which the position belongs
 * @param sequence newest record with a fault; -1 where there was none
 * @param historyMicros time since boot up to which records are older than the first start on this node and are skipped
 */
record KmsgPosition(String bootId, long sequence, long historyMicros) {
    private static final Pattern FORMAT = Pattern.compile("(\\S{1,64}) (-?\\d{1,18}) (\\d{1,18})\\s*");

    /** Position at the first start on a node: all records in the log are skipped. */
    static KmsgPosition initial(String bootId, long uptimeMicros) {
        return new KmsgPosition(bootId, -1, uptimeMicros);
    }

    /** Reads a saved position; after a reboot all records are unread. */
    static Optional<KmsgPosition> parse(String saved, String bootId) {
        Matcher matcher = FORMAT.matcher(saved);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return matcher.group(1).equals(bootId)
                ? Optional.of(
                        new KmsgPosition(bootId, Long.parseLong(matcher.group(2)), Long.parseLong(matcher.group(3))))
                : Optional.of(new KmsgPosition(bootId, -1, 0));
    }

    String format() {
        return bootId + " " + sequence + " " + historyMicros + "\n";
    }

    /**
     * Whether a record is unread.
     *
     * @param waited whether the log was read to its end before, so that the record is new whatever its time is
     */
    boolean isUnread(KmsgRecord line, boolean waited) {
        return line.sequence() > sequence && (waited || line.micros() > historyMicros);
    }

    KmsgPosition advancedTo(long newest) {
        return new KmsgPosition(bootId, newest, historyMicros);
    }
}
