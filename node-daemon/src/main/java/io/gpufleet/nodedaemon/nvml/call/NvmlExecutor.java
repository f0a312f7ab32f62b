package io.gpufleet.nodedaemon.nvml.call;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Makes the calls about one GPU, one after another. */
final class NvmlExecutor {
    /** A thread that has nothing to do ends: polls are far apart. */
    private static final Duration IDLE_THREAD = Duration.ofMillis(200);

    private final Duration deadline;
    private final ThreadPoolExecutor executor;
    private Future<?> running = CompletableFuture.completedFuture("");
    private long startedNanos;

    NvmlExecutor(Duration deadline) {
        this.deadline = deadline;
        this.executor = new ThreadPoolExecutor(
                1,
                1,
                IDLE_THREAD.toMillis(),
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().name("nvml").daemon(true).factory());
        executor.allowCoreThreadTimeOut(true);
    }

    synchronized <T> PendingCall<T> start(String name, NvmlCall<T> work) {
        if (!running.isDone()) {
            return new EarlierCall<>(name, startedNanos + deadline.toNanos());
        }
        startedNanos = System.nanoTime();
        Future<T> future = executor.submit(work::run);
        running = future;
        return new StartedCall<>(name, future, startedNanos + deadline.toNanos());
    }

    synchronized boolean idle() {
        return running.isDone();
    }

    void close() {
        executor.shutdown();
    }

    private static NvmlFailure late(String name, long untilNanos) {
        return new NvmlFailure(name, System.nanoTime() - untilNanos >= 0 ? NvmlReturnCode.HUNG : NvmlReturnCode.BUSY);
    }

    /** Another call about the GPU is in progress, so this one is not made. */
    private record EarlierCall<T>(String name, long untilNanos) implements PendingCall<T> {
        @Override
        public T await() throws NvmlFailure {
            throw late(name, untilNanos);
        }

        @Override
        public T await(Duration atMost) throws NvmlFailure {
            throw late(name, untilNanos);
        }
    }

    private record StartedCall<T>(String name, Future<T> future, long untilNanos) implements PendingCall<T> {
        @Override
        public T await() throws NvmlFailure {
            return await(Duration.ofNanos(Long.MAX_VALUE));
        }

        @Override
        public T await(Duration atMost) throws NvmlFailure {
            long left = Math.max(0, untilNanos - System.nanoTime());
            try {
                return future.get(Math.min(atMost.toNanos(), left), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                throw late(name, untilNanos);
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
    }
}
