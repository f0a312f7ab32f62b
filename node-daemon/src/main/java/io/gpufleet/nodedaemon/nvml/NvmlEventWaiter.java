package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A thread that waits for NVML events in short slices; after a failure it backs off. */
final class NvmlEventWaiter implements AutoCloseable {
    private static final Duration INITIAL_BACKOFF = Duration.ofMillis(100);
    private static final Duration MAX_BACKOFF = Duration.ofSeconds(30);

    private final NvmlEventSet events;
    private final Listener listener;
    private final Duration waitTimeout;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread =
            Thread.ofPlatform().name("nvml-events").daemon(true).unstarted(this::run);

    /** Receives events and failures on the waiting thread. */
    interface Listener {
        /** An event occurred. */
        void event(NvmlEventSet.NvmlEvent event);

        /** A wait failed; {@code times} counts failures in a row. */
        void waitFailed(NvmlFailure failure, int times);

        /** A wait succeeded after one that failed. */
        void waitRecovered();
    }

    NvmlEventWaiter(NvmlEventSet events, Listener listener, Duration waitTimeout) {
        this.events = events;
        this.listener = listener;
        this.waitTimeout = waitTimeout;
    }

    NvmlEventWaiter start() {
        thread.start();
        return this;
    }

    private void run() {
        try {
            int failures = 0;
            while (!closing.await(backoff(failures).toNanos(), TimeUnit.NANOSECONDS)) {
                failures = waitOnce(failures);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int waitOnce(int failures) {
        try {
            events.await(waitTimeout).ifPresent(listener::event);
            if (failures > 0) {
                listener.waitRecovered();
            }
            return 0;
        } catch (NvmlFailure e) {
            listener.waitFailed(e, failures + 1);
            return failures + 1;
        }
    }

    /** Zero while waits succeed; doubled by each failure. */
    static Duration backoff(int failures) {
        if (failures == 0) {
            return Duration.ZERO;
        }
        Duration backoff = INITIAL_BACKOFF.multipliedBy(1L << Math.min(failures - 1, 20));
        return backoff.compareTo(MAX_BACKOFF) < 0 ? backoff : MAX_BACKOFF;
    }

    /** Asks the thread to end; the event set must not be freed before {@link #awaitEnd} returned true. */
    @Override
    public void close() {
        closing.countDown();
    }

    /** Waits for the thread to end, at most so long; whether it ended. */
    boolean awaitEnd(Duration atMost) {
        try {
            return thread.join(atMost);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
