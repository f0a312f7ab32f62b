package io.gpufleet.nodedaemon.app;

import java.util.ArrayList;
import java.util.List;

/**
 * Log lines of an input, written once its device lists were published: whoever reads our log may be slow, and the kubelet must
 * not wait for it. Used by one thread.
 */
class DeferredLog {
    private final List<Runnable> lines = new ArrayList<>();

    /** A log that nobody reads. */
    static DeferredLog discarding() {
        return new DeferredLog() {
            @Override
            void add(Runnable line) {
                // Nothing is written.
            }
        };
    }

    /** Adds a line; it is written by {@link #write}. */
    void add(Runnable line) {
        lines.add(line);
    }

    /** Writes the lines in order. */
    void write() {
        List<Runnable> due = List.copyOf(lines);
        lines.clear();
        due.forEach(Runnable::run);
    }
}
