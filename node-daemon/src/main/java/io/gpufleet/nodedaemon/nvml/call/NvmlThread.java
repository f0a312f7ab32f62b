package io.gpufleet.nodedaemon.nvml.call;

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
 * The one thread that calls NVML. A call that exceeds the deadline is abandoned with its thread, and no further call about
 * the same GPU is made until it returns: a hung driver costs one thread per GPU, not one per poll.
 */
public final class NvmlThread implements AutoCloseable {
    /** Calls that concern no single GPU. */
    public static final int DRIVER = -1;

    private final Duration deadline;
    private final Map<Integer, Future<?>> hungCalls = new HashMap<>();
    private ExecutorService executor = newExecutor();

    public NvmlThread(Duration deadline) {
        this.deadline = deadline;
    }

    /** Work that calls NVML. */
    public interface NvmlCall<T> {
        T run() throws NvmlFailure;
    }

    /**
     * Runs the work on the thread.
     *
     * @param about a GPU index, or {@link #DRIVER}
     * @throws NvmlFailure of the work; HUNG where it, or an earlier call about the same GPU, does not return in time
     */
    public synchronized <T> T call(int about, String name, NvmlCall<T> work) throws NvmlFailure {
        Future<?> earlier = hungCalls.get(about);
        if (earlier != null) {
            if (!earlier.isDone()) {
                throw new NvmlFailure(name, NvmlReturnCode.HUNG);
            }
            hungCalls.remove(about);
        }
        Future<T> future = executor.submit(work::run);
        try {
            return future.get(deadline.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            hungCalls.put(about, future);
            executor.shutdown();
            executor = newExecutor();
            throw new NvmlFailure(name, NvmlReturnCode.HUNG);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NvmlFailure(name, NvmlReturnCode.INTERRUPTED);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof NvmlFailure failure) {
                throw failure;
            }
            throw new IllegalStateException(name, e.getCause());
        }
    }

    /** Whether no abandoned call is still running. */
    public synchronized boolean idle() {
        return hungCalls.values().stream().allMatch(Future::isDone);
    }

    private static ExecutorService newExecutor() {
        return Executors.newSingleThreadExecutor(
                Thread.ofPlatform().name("nvml").daemon(true).factory());
    }

    @Override
    public synchronized void close() {
        executor.shutdown();
    }
}
