package io.gpufleet.runtime.sequence;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The newest gaps of services that were found, for people; thread-safe. */
public final class MissedEvents {
    private static final int MOST = 5;

    private final Deque<String> newest = new ArrayDeque<>();

    /** A gap was found at a time. */
    public synchronized void add(WriterSequences.Gap gap, Instant at) {
        newest.addFirst(gap.missed() + (gap.missed() == 1 ? " event of " : " events of ") + gap.source() + " on "
                + gap.topic() + " never arrived, found at " + at);
        if (newest.size() > MOST) {
            newest.removeLast();
        }
    }

    /** A line for each, newest first. */
    public synchronized List<String> lines() {
        return List.copyOf(newest);
    }
}
