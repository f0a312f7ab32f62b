package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A thread that waits for NVML events in short slices; after a failure it pauses, so that failing waits do not spin. */
final class NvmlEventWaiter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlEventWaiter.class);
    private static final long NOT_WAITING = 0;

    /** The pause after a failed wait; an event of a healthy GPU, which shares the set, must not wait longer. */
    static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(20);

    private final NvmlEventSet events;
    private final Listener listener;
    private final Duration waitTimeout;
    private final Runnable prepare;
    private final AtomicLong waitingSinceNanos = new AtomicLong(NOT_WAITING);
    private volatile boolean failing;
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

    /** Runs {@code prepare} on its thread before the first wait. */
    NvmlEventWaiter(NvmlEventSet events, Listener listener, Duration waitTimeout, Runnable prepare) {
        this.prepare = prepare;
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
            prepare.run();
            int failures = 0;
            while (!closing.await(failures == 0 ? 0 : PAUSE_AFTER_FAILURE.toNanos(), TimeUnit.NANOSECONDS)) {
                failures = waitOnce(failures);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int waitOnce(int failures) {
        try {
            await().ifPresent(listener::event);
            failing = false;
            if (failures > 0) {
                listener.waitRecovered();
            }
            return 0;
        } catch (NvmlFailure e) {
            failing = true;
            listener.waitFailed(e, failures + 1);
            return failures + 1;
        } catch (RuntimeException | Error defect) {
            // The pause of a failed wait keeps a defect that repeats itself from spinning.
            LOG.atError().setCause(defect).log("NVML event could not be handled, the wait for others goes on");
            return failures + 1;
        }
    }

    private Optional<NvmlEventSet.NvmlEvent> await() throws NvmlFailure {
        waitingSinceNanos.set(System.nanoTime() | 1);
        try {
            return events.await(waitTimeout);
        } finally {
            waitingSinceNanos.set(NOT_WAITING);
        }
    }

    /** How long the wait in progress has taken; zero between two waits. */
    Duration waitInFlight() {
        long since = waitingSinceNanos.get();
        return since == NOT_WAITING ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - since);
    }

    /** Whether the last wait failed. */
    boolean isFailing() {
        return failing;
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
