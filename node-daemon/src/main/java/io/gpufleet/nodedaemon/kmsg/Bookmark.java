package io.gpufleet.nodedaemon.kmsg;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What of the kernel log was read in full.
 *
 * @param bootId the boot that the rest is about
 * @param sequence newest record that was handed on; -1 where there was none
 * @param historyMicros records up to here were there before this daemon first started on the node: history
 */
record Bookmark(String bootId, long sequence, long historyMicros) {
    private static final Pattern KEPT = Pattern.compile("(\\S{1,64}) (-?\\d{1,18}) (\\d{1,18})\\s*");

    /** For a node whose log nobody read before: what is there is history. */
    static Bookmark first(String bootId, long uptimeMicros) {
        return new Bookmark(bootId, -1, uptimeMicros);
    }

    /** As it was kept. In another boot everything is unread, and happened since that boot. */
    static Optional<Bookmark> read(String kept, String bootId) {
        Matcher matcher = KEPT.matcher(kept);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return matcher.group(1).equals(bootId)
                ? Optional.of(new Bookmark(bootId, Long.parseLong(matcher.group(2)), Long.parseLong(matcher.group(3))))
                : Optional.of(new Bookmark(bootId, -1, 0));
    }

    String written() {
        return bootId + " " + sequence + " " + historyMicros + "\n";
    }

    /**
     * Whether a record is unread.
     *
     * @param waited whether the log had come to its end before: what follows is new whatever its clock says
     */
    boolean unread(KernelRecord line, boolean waited) {
        return line.sequence() > sequence && (waited || line.micros() > historyMicros);
    }

    Bookmark at(long newest) {
        return new Bookmark(bootId, newest, historyMicros);
    }
}
