package io.gpufleet.nodedaemon.app;

import java.time.Duration;

/** How often something happened within the last five minutes, to five seconds. */
final class RecentCount {
    static final Duration WINDOW = Duration.ofMinutes(5);

    private static final int SLOTS = 60;
    private static final long SLOT_NANOS = WINDOW.toNanos() / SLOTS;

    private final int[] counts = new int[SLOTS];
    private long newest;

    RecentCount(long nanos) {
        newest = Math.floorDiv(nanos, SLOT_NANOS);
    }

    void happened(long nanos) {
        turnTo(nanos);
        counts[Math.floorMod(newest, SLOTS)]++;
    }

    int read(long nanos) {
        turnTo(nanos);
        int sum = 0;
        for (int count : counts) {
            sum += count;
        }
        return sum;
    }

    private void turnTo(long nanos) {
        long now = Math.floorDiv(nanos, SLOT_NANOS);
        for (long slot = Math.max(newest + 1, now - SLOTS + 1); slot <= now; slot++) {
            counts[Math.floorMod(slot, SLOTS)] = 0;
        }
        newest = Math.max(newest, now);
    }
}
