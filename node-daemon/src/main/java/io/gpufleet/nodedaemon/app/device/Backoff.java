package io.gpufleet.nodedaemon.app.device;

import java.time.Duration;

/** Backoff of a failing operation: the delay before the next attempt, and whether a failure is new. */
final class Backoff {
    static final Duration FIRST = Duration.ofSeconds(1);

    private static final Duration MAX = Duration.ofSeconds(30);
    /** A failure after this time without one starts over. */
    private static final Duration RESET_AFTER = Duration.ofMinutes(2);

    private final Duration first;
    private Duration delay = Duration.ZERO;
    private String lastFailure = "";
    private long failedNanos;

    /** Begins with a delay, which doubles with each failure. */
    Backoff(Duration first) {
        this.first = first;
    }

    /** Records a failure; returns whether it differs from the previous one. */
    boolean isNewFailure(String failure, long nanos) {
        if (nanos - failedNanos >= RESET_AFTER.toNanos()) {
            delay = Duration.ZERO;
            lastFailure = "";
        }
        failedNanos = nanos;
        delay = delay.isZero() ? first : delay.multipliedBy(2);
        delay = delay.compareTo(MAX) > 0 && first.compareTo(MAX) < 0 ? MAX : delay;
        boolean news = !failure.equals(lastFailure);
        lastFailure = failure;
        return news;
    }

    /** Returns the delay after the newest failure. */
    Duration delay() {
        return delay;
    }
}
