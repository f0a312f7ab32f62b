package io.gpufleet.nodedaemon.kmsg;

import java.util.ArrayList;
import java.util.List;

/** Cuts what was read into lines; a line that came in part waits for its rest. */
final class Lines {
    private static final int LONGEST = 32_768;

    private final StringBuilder rest = new StringBuilder();

    /** The whole lines there are now. */
    List<String> of(String read) {
        rest.append(read);
        var lines = new ArrayList<String>();
        int from = 0;
        for (int end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", from)) {
            lines.add(rest.substring(from, end));
            from = end + 1;
        }
        rest.delete(0, from);
        if (rest.length() > LONGEST) {
            forget();
        }
        return lines;
    }

    /** What was begun has no rest. */
    void forget() {
        rest.setLength(0);
    }
}
