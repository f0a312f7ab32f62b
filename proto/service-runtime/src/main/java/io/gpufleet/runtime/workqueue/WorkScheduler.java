package io.gpufleet.runtime.workqueue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Threads and time of a queue; a test has others. Monotonic time, since waits do not follow a clock that is set. */
public interface WorkScheduler {
    /** The present time in nanoseconds. */
    long nanos();

    /** Runs work beside the caller, which does not wait for it. */
    void start(Runnable work);

    /** Runs work after a time. */
    void startAfter(Duration delay, Runnable work);

    /** A number between 0 and 1, which spreads the waits. */
    double random();

    /** Runs each work on a virtual thread of its own, with this name. */
    static WorkScheduler virtualThreads(String name) {
        return new WorkScheduler() {
            @Override
            public long nanos() {
                return System.nanoTime();
            }

            @Override
            public void start(Runnable work) {
                var _ = Thread.ofVirtual().name(name).start(work);
            }

            @Override
            public void startAfter(Duration delay, Runnable work) {
                CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS, this::start)
                        .execute(work);
            }

            @Override
            public double random() {
                return ThreadLocalRandom.current().nextDouble();
            }
        };
    }
}
