package io.gpufleet.compose.fleet;

import java.io.PrintStream;
import java.util.Locale;

/** What a person reads while a fleet starts; lines of several threads do not mix. */
public final class Progress {
    private final PrintStream out;
    private final long startNanos = System.nanoTime();

    /** Prints to a stream; the clock starts now. */
    public Progress(PrintStream out) {
        this.out = out;
    }

    /** A line as it is. */
    public synchronized void say(String line) {
        out.println(line);
        out.flush();
    }

    /** A part is there. */
    public void ready(String part, String where) {
        say(String.format(Locale.ROOT, "  %-22s ready after %4.1f s   %s", part, seconds(), where)
                .stripTrailing());
    }

    /** Seconds since the start. */
    public double seconds() {
        return (System.nanoTime() - startNanos) / 1e9;
    }
}
