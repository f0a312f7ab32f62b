package io.gpufleet.inventory.app;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Runs tasks after a delay on one daemon thread; closing it drops the tasks that wait. */
public final class RetryTimer implements AutoCloseable {
    private final ScheduledExecutorService scheduler;

    /** A timer whose thread has this name. */
    public RetryTimer(String threadName) {
        scheduler = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name(threadName).daemon().factory());
    }

    /** Runs the task once after the delay. */
    public void schedule(Duration delay, Runnable task) {
        var ignored = scheduler.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        scheduler.shutdownNow();
    }
}
