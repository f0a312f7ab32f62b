package io.gpufleet.nodedaemon.app;

import java.time.Duration;

/** Patience with a work that fails: how long it is left alone before the next try, and whether its failure is news. */
final class Setback {
    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofSeconds(30);
    /** A failure after so long without one has nothing to do with those before. */
    private static final Duration FORGIVEN = Duration.ofMinutes(2);

    private Duration pause = Duration.ZERO;
    private String told = "";
    private long failedNanos;

    /** It failed, for the first time or again; true where this failure is another than the one before. */
    boolean isNews(String failure, long nanos) {
        if (nanos - failedNanos >= FORGIVEN.toNanos()) {
            pause = Duration.ZERO;
            told = "";
        }
        failedNanos = nanos;
        pause = pause.isZero() ? FIRST : pause.multipliedBy(2);
        pause = pause.compareTo(LONGEST) > 0 ? LONGEST : pause;
        boolean news = !failure.equals(told);
        told = failure;
        return news;
    }

    /** How long to wait after the newest failure. */
    Duration pause() {
        return pause;
    }
}
