package io.gpufleet.inventory.app;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** Runs blocking tasks on virtual threads, at most a fixed number at once; the others wait. */
public final class ConcurrencyLimitedExecutor implements Executor, AutoCloseable {
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore permits;

    /** An executor that runs at most {@code limit} tasks at once. */
    public ConcurrencyLimitedExecutor(int limit) {
        this.permits = new Semaphore(limit);
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(() -> {
            permits.acquireUninterruptibly();
            try {
                task.run();
            } finally {
                permits.release();
            }
        });
    }

    /** Returns when all tasks have ended. */
    @Override
    public void close() {
        threads.close();
    }
}
