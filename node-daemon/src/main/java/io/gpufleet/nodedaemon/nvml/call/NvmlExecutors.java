package io.gpufleet.nodedaemon.nvml.call;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Calls NVML on threads of its own, so that a call that hangs harms one GPU. No further call about the same GPU is made until
 * it returns: a hung driver costs one thread per GPU, not one per poll. Calls that return soon share a thread.
 */
public final class NvmlExecutors implements AutoCloseable {
    /** Calls that concern no single GPU. */
    public static final int DRIVER = -1;

    /** A thread that has nothing to do ends: polls are far apart. */
    private static final Duration IDLE_THREAD = Duration.ofMillis(200);
    /** More than the readings of a GPU take; the next GPU does not wait longer for one that takes its time or hangs. */
    private static final Duration TURN = Duration.ofMillis(10);

    /** A thread whose call has returned is idle within this time. */
    private static final Duration HAND_OVER = Duration.ofMillis(2);

    private final Duration deadline;
    private final BlockingQueue<Runnable> idleThreads = new SynchronousQueue<>();
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_THREAD.toMillis(),
            TimeUnit.MILLISECONDS,
            idleThreads,
            Thread.ofPlatform().name("nvml").daemon(true).factory());
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
        return executors
                .computeIfAbsent(about, _ -> new NvmlExecutor(deadline, this::execute))
                .start(name, work);
    }

    /** Waits a moment for the thread of the call before, so that calls one after another do not begin a thread each. */
    private void execute(Runnable call) {
        try {
            if (threads.getPoolSize() > 0 && idleThreads.offer(call, HAND_OVER.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        threads.execute(call);
    }

    /**
     * Starts the work and gives it a moment, so that works that are started one after another need one thread and not one
     * each, unless they take long.
     */
    public <T> PendingCall<T> startInTurn(int about, String name, NvmlCall<T> work) {
        PendingCall<T> started = start(about, name, work);
        started.settle(TURN);
        return started;
    }

    /** Whether no call is in progress. */
    public boolean idle() {
        return executors.values().stream().allMatch(NvmlExecutor::idle);
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
