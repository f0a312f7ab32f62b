package io.gpufleet.nodedaemon.nvml.call;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Calls NVML on one thread per GPU, and one for what concerns no single GPU, so that a call that hangs harms one GPU. No
 * further call about the same GPU is made until it returns: a hung driver costs one thread per GPU, not one per poll.
 */
public final class NvmlExecutors implements AutoCloseable {
    /** Calls that concern no single GPU. */
    public static final int DRIVER = -1;

    private final Duration deadline;
    private final Map<Integer, NvmlExecutor> executors = new ConcurrentHashMap<>();

    public NvmlExecutors(Duration deadline) {
        this.deadline = deadline;
    }

    /**
     * Runs the work and waits for it.
     *
     * @param about a GPU index, or {@link #DRIVER}
     * @throws NvmlFailure of the work; HUNG where it, or an earlier call about the same GPU, does not return in time
     */
    public <T> T call(int about, String name, NvmlCall<T> work) throws NvmlFailure {
        return start(about, name, work).await();
    }

    /** Starts the work; several started works about different GPUs run at the same time. */
    public <T> PendingCall<T> start(int about, String name, NvmlCall<T> work) {
        return executors.computeIfAbsent(about, _ -> new NvmlExecutor(deadline)).start(name, work);
    }

    /** Whether no call is in progress. */
    public boolean idle() {
        return executors.values().stream().allMatch(NvmlExecutor::idle);
    }

    @Override
    public void close() {
        executors.values().forEach(NvmlExecutor::close);
    }
}
