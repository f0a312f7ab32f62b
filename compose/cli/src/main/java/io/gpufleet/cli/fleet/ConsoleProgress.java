package io.gpufleet.cli.fleet;

import java.io.PrintStream;
import java.util.Locale;

/** Console output while a fleet starts; lines of several threads do not mix. */
public final class ConsoleProgress {
    private final PrintStream out;
    private final long startNanos = System.nanoTime();

    /** Prints to a stream; the clock starts now. */
    public ConsoleProgress(PrintStream out) {
        this.out = out;
    }

    /** Prints a line. */
    public synchronized void print(String line) {
        out.println(line);
        out.flush();
    }

    /** Prints that a process is ready. */
    public void printReady(String process, String where) {
        print(String.format(Locale.ROOT, "  %-22s ready after %4.1f s   %s", process, seconds(), where)
                .stripTrailing());
    }

    /** Seconds since the start. */
    public double seconds() {
        return (System.nanoTime() - startNanos) / 1e9;
    }
}
