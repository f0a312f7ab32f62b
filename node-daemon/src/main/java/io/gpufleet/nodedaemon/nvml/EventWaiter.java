package io.gpufleet.nodedaemon.nvml;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A thread that waits for events in short slices and has every GPU asked now and then; failing waits back off. */
final class EventWaiter implements AutoCloseable {
    private static final Duration FIRST_BACKOFF = Duration.ofMillis(100);
    private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(30);
    private static final Duration NEVER = Duration.ofDays(10_000);

    private final EventSet events;
    private final Listener listener;
    private final Duration slice;
    private final Duration pollInterval;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread =
            Thread.ofPlatform().name("nvml-events").daemon(true).unstarted(this::run);

    /** Who is told, on the waiting thread. */
    interface Listener {
        /** An event came. */
        void event(EventSet.Event event);

        /** A wait failed, for the so many-th time in a row. */
        void waitFailed(NvmlFailure failure, int times);

        /** A wait worked after one that failed. */
        void waitWorks();

        /** It is time to ask the GPUs. */
        void poll();
    }

    EventWaiter(EventSet events, Listener listener, Duration slice, Duration pollInterval) {
        this.events = events;
        this.listener = listener;
        this.slice = slice;
        this.pollInterval = pollInterval;
    }

    EventWaiter start() {
        thread.start();
        return this;
    }

    private void run() {
        try {
            int failures = 0;
            long now = System.nanoTime();
            long nextPoll = now + pollInterval.toNanos();
            long nextWait = events.canReport() ? now : now + NEVER.toNanos();
            while (!closing.await(Math.min(nextPoll, nextWait) - now, TimeUnit.NANOSECONDS)) {
                now = System.nanoTime();
                if (now - nextPoll >= 0) {
                    listener.poll();
                    nextPoll = System.nanoTime() + pollInterval.toNanos();
                }
                if (now - nextWait >= 0) {
                    failures = waitOnce(failures);
                    nextWait = System.nanoTime() + backoff(failures).toNanos();
                }
                now = System.nanoTime();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int waitOnce(int failures) {
        try {
            events.await(slice).ifPresent(listener::event);
            if (failures > 0) {
                listener.waitWorks();
            }
            return 0;
        } catch (NvmlFailure e) {
            listener.waitFailed(e, failures + 1);
            return failures + 1;
        }
    }

    /** Nothing while waits work; then twice as long each time. */
    static Duration backoff(int failures) {
        if (failures == 0) {
            return Duration.ZERO;
        }
        Duration backoff = FIRST_BACKOFF.multipliedBy(1L << Math.min(failures - 1, 20));
        return backoff.compareTo(LONGEST_BACKOFF) < 0 ? backoff : LONGEST_BACKOFF;
    }

    /** Asks the thread to end; the set must not be freed before {@link #ended} said yes. */
    @Override
    public void close() {
        closing.countDown();
    }

    /** Whether no wait is under way any more; waits for it, at most so long. */
    boolean ended(Duration atMost) {
        try {
            return thread.join(atMost);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
