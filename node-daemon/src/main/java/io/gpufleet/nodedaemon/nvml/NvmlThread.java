package io.gpufleet.nodedaemon.nvml;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The one thread that calls NVML. A call that outlives the deadline is abandoned with its thread, and what it was asked
 * about is not asked again until it returns: a hung driver costs one thread a GPU, not one a poll.
 */
final class NvmlThread implements AutoCloseable {
    /** What concerns no single GPU. */
    static final int DRIVER = -1;

    private final Duration deadline;
    private final Map<Integer, Future<?>> stuck = new HashMap<>();
    private ExecutorService executor = fresh();

    NvmlThread(Duration deadline) {
        this.deadline = deadline;
    }

    /** A piece of work that calls NVML. */
    interface Work<T> {
        T run() throws NvmlFailure;
    }

    /**
     * Runs it.
     *
     * @param about a GPU index, or {@link #DRIVER}
     * @throws NvmlFailure of the work; with code HUNG where it does not return in time, or an earlier one still has not
     */
    synchronized <T> T call(int about, String name, Work<T> work) throws NvmlFailure {
        Future<?> earlier = stuck.get(about);
        if (earlier != null) {
            if (!earlier.isDone()) {
                throw new NvmlFailure(name, NvmlFailure.HUNG);
            }
            stuck.remove(about);
        }
        Future<T> future = executor.submit(work::run);
        try {
            return future.get(deadline.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            stuck.put(about, future);
            executor.shutdown();
            executor = fresh();
            throw new NvmlFailure(name, NvmlFailure.HUNG);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NvmlFailure(name, NvmlFailure.INTERRUPTED);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof NvmlFailure failure) {
                throw failure;
            }
            throw new IllegalStateException(name, e.getCause());
        }
    }

    /** Whether no abandoned call is under way. */
    synchronized boolean idle() {
        return stuck.values().stream().allMatch(Future::isDone);
    }

    private static ExecutorService fresh() {
        return Executors.newSingleThreadExecutor(
                Thread.ofPlatform().name("nvml").daemon(true).factory());
    }

    @Override
    public synchronized void close() {
        executor.shutdown();
    }
}
