package io.gpufleet.cli.cluster;

import java.util.Locale;

/**
 * One line of the report on a cluster.
 *
 * @param level what it means for the operator
 * @param subject what was looked at
 * @param text what was found
 * @param remedy what to do; empty where nothing is to be done
 */
public record Finding(Level level, String subject, String text, String remedy) {
    /** Levels, the worst last. */
    public enum Level {
        /** As it should be. */
        OK,
        /** Works, but not as most would want it. */
        WARN,
        /** Does not work. */
        FAIL
    }

    /** As {@code doctor} prints it. */
    public String toLine() {
        return String.format(Locale.ROOT, "%-4s  %-22s %s", level, subject, text)
                + (remedy.isEmpty() ? "" : "\n      -> " + remedy);
    }

    static Finding ok(String subject, String text) {
        return new Finding(Level.OK, subject, text, "");
    }

    static Finding warn(String subject, String text, String remedy) {
        return new Finding(Level.WARN, subject, text, remedy);
    }

    static Finding fail(String subject, String text, String remedy) {
        return new Finding(Level.FAIL, subject, text, remedy);
    }
}
