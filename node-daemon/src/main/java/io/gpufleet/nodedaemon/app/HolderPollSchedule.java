package io.gpufleet.nodedaemon.app;

import java.time.Duration;
import java.util.TreeSet;

/**
 * Schedules reads of the kubelet's list of holders. A read makes the kubelet rebuild that list, which may lose an allocation in
 * progress, so none is made for a while after each Allocate; steady Allocates postpone one for some seconds at most.
 */
final class HolderPollSchedule {
    /** Time without reads after an allocation. */
    static final Duration QUIET = Duration.ofMillis(500);

    /** Time by which allocations postpone a read; holders that are older than this are worth its risk. */
    static final Duration MAX_POSTPONEMENT = Duration.ofSeconds(5);

    private static final Duration SECOND_POLL = Duration.ofSeconds(2);
    private static final Duration PERIOD = Duration.ofSeconds(10);
    private static final Duration MAX_BACKOFF = Duration.ofMinutes(2);

    private final TreeSet<Long> due = new TreeSet<>();
    private boolean requestPending;
    private Duration backoff = PERIOD;
    private long notBeforeNanos;

    /** The first read follows the start by a moment, in which the kubelet gets its lists. */
    HolderPollSchedule(long nanos) {
        notBeforeNanos = nanos + QUIET.toNanos();
        due.add(nanos);
    }

    void allocated(long nanos) {
        due.add(nanos + QUIET.toNanos());
        due.add(nanos + SECOND_POLL.toNanos());
    }

    void scheduleNow(long nanos) {
        due.add(nanos);
    }

    void requested(long nanos) {
        requestPending = true;
        due.headSet(nanos, true).clear();
    }

    void answered(long nanos) {
        requestPending = false;
        backoff = PERIOD;
        due.add(nanos + PERIOD.toNanos());
    }

    /** A read failed: for the rate limit, or for another reason, after which the next one is made as usual. */
    void failed(boolean rateLimited, long nanos) {
        if (rateLimited) {
            rateLimited(nanos);
        } else {
            answered(nanos);
        }
    }

    /** Doubles the pause after the kubelet refused a read for its rate limit, which all clients share. */
    void rateLimited(long nanos) {
        requestPending = false;
        notBeforeNanos = nanos + backoff.toNanos();
        due.add(notBeforeNanos);
        Duration longer = backoff.multipliedBy(2);
        backoff = longer.compareTo(MAX_BACKOFF) < 0 ? longer : MAX_BACKOFF;
    }

    /** Returns when to read next; never while a read is in progress. */
    long nextNanos(long lastAllocateNanos, long horizonNanos) {
        if (requestPending || due.isEmpty()) {
            return horizonNanos;
        }
        long wanted = Math.max(notBeforeNanos, due.first());
        long quiet = Math.min(lastAllocateNanos + QUIET.toNanos(), wanted + MAX_POSTPONEMENT.toNanos());
        return Math.min(horizonNanos, Math.max(wanted, quiet));
    }
}
