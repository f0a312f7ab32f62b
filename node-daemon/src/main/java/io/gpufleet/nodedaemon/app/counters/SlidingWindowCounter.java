package io.gpufleet.nodedaemon.app.counters;

import java.time.Duration;

/** Counts occurrences within the last five minutes, at a resolution of five seconds. */
final class SlidingWindowCounter {
    static final Duration WINDOW = Duration.ofMinutes(5);

    private static final int SLOTS = 60;
    private static final long SLOT_NANOS = WINDOW.toNanos() / SLOTS;

    private final int[] counts = new int[SLOTS];
    private long newest;

    SlidingWindowCounter(long nanos) {
        newest = Math.floorDiv(nanos, SLOT_NANOS);
    }

    void increment(long nanos) {
        advanceTo(nanos);
        counts[Math.floorMod(newest, SLOTS)]++;
    }

    int read(long nanos) {
        advanceTo(nanos);
        int sum = 0;
        for (int count : counts) {
            sum += count;
        }
        return sum;
    }

    private void advanceTo(long nanos) {
        long now = Math.floorDiv(nanos, SLOT_NANOS);
        for (long slot = Math.max(newest + 1, now - SLOTS + 1); slot <= now; slot++) {
            counts[Math.floorMod(slot, SLOTS)] = 0;
        }
        newest = Math.max(newest, now);
    }
}
