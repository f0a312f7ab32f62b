package io.gpufleet.nodedaemon.app;

import java.time.Duration;
import java.util.TreeSet;

/**
 * When to ask the kubelet who holds what. Asking makes a kubelet rebuild its book, which may forget an allocation that
 * is under way, so it is left alone for a while after each Allocate.
 */
final class HolderSchedule {
    /** How long the kubelet is left alone after an allocation. */
    static final Duration QUIET = Duration.ofMillis(500);

    private static final Duration SECOND_LOOK = Duration.ofSeconds(2);
    private static final Duration PERIOD = Duration.ofSeconds(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(2);

    private final TreeSet<Long> due = new TreeSet<>();
    private boolean asking;
    private Duration pause = PERIOD;
    private long notBeforeNanos;

    HolderSchedule(long nanos) {
        notBeforeNanos = nanos;
        due.add(nanos);
    }

    void allocated(long nanos) {
        due.add(nanos + QUIET.toNanos());
        due.add(nanos + SECOND_LOOK.toNanos());
    }

    void soon(long nanos) {
        due.add(nanos);
    }

    void asked(long nanos) {
        asking = true;
        due.headSet(nanos, true).clear();
    }

    void answered(long nanos) {
        asking = false;
        pause = PERIOD;
        due.add(nanos + PERIOD.toNanos());
    }

    /** The kubelet is asked too often, by whomever: it is left alone for longer each time, whatever happens. */
    void refused(long nanos) {
        asking = false;
        notBeforeNanos = nanos + pause.toNanos();
        due.add(notBeforeNanos);
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }

    /** When to ask next, or never while an answer is due. */
    long nextNanos(long lastAllocateNanos, long horizonNanos) {
        if (asking || due.isEmpty()) {
            return horizonNanos;
        }
        long quiet = Math.max(notBeforeNanos, lastAllocateNanos + QUIET.toNanos());
        return Math.min(horizonNanos, Math.max(due.first(), quiet));
    }
}
