package io.gpufleet.nodedaemon.kmsg;

import java.util.ArrayList;
import java.util.List;

/** Splits what was read into lines; an incomplete line is kept until its end is read. */
final class LineSplitter {
    private static final int MAX_LINE_LENGTH = 32_768;

    private final StringBuilder rest = new StringBuilder();

    /** Complete lines after another read. */
    List<String> split(String read) {
        rest.append(read);
        var lines = new ArrayList<String>();
        int from = 0;
        for (int end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", from)) {
            lines.add(rest.substring(from, end));
            from = end + 1;
        }
        rest.delete(0, from);
        if (rest.length() > MAX_LINE_LENGTH) {
            reset();
        }
        return lines;
    }

    /** Drops the incomplete line. */
    void reset() {
        rest.setLength(0);
    }
}
