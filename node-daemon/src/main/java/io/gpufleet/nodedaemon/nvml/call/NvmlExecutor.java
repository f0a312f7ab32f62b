package io.gpufleet.nodedaemon.nvml.call;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Makes the calls about one GPU, one after another. */
final class NvmlExecutor {
    private final Duration deadline;
    private final Executor threads;
    private Future<?> running = CompletableFuture.completedFuture("");
    private long startedNanos;

    NvmlExecutor(Duration deadline, Executor threads) {
        this.deadline = deadline;
        this.threads = threads;
    }

    synchronized <T> PendingCall<T> start(String name, NvmlCall<T> work) {
        if (!running.isDone()) {
            return new EarlierCall<>(name, startedNanos + deadline.toNanos());
        }
        startedNanos = System.nanoTime();
        var future = new FutureTask<T>(work::run);
        threads.execute(future);
        running = future;
        return new StartedCall<>(name, future, startedNanos + deadline.toNanos());
    }

    synchronized boolean idle() {
        return running.isDone();
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

        @Override
        public void settle(Duration atMost) {
            // It was not made.
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

        @Override
        public void settle(Duration atMost) {
            try {
                future.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException later) {
                // Whoever awaits the result is told.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
