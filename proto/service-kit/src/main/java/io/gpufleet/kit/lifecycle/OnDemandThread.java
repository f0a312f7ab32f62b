package io.gpufleet.kit.lifecycle;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Executors of one daemon thread that ends when there is no task, for work that may block and is rare. */
public final class OnDemandThread {
    private static final Duration IDLE = Duration.ofMillis(200);

    private OnDemandThread() {}

    /** Makes an executor that runs one task at a time, in order. */
    public static Executor executor(String threadName) {
        var executor = new ThreadPoolExecutor(
                1,
                1,
                IDLE.toMillis(),
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                task -> Thread.ofPlatform().name(threadName).daemon(true).unstarted(task));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }
}
