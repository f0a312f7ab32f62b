package io.gpufleet.kit.web;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs requests that would block an event loop, on threads of their own: probes are answered while every thread works. What
 * would wait too long is refused instead of queued.
 */
public final class RequestWorkers implements AutoCloseable {
    private final WorkerExecutor threads;
    private final int limit;
    private final AtomicInteger admitted = new AtomicInteger();

    private RequestWorkers(WorkerExecutor threads, int limit) {
        this.threads = threads;
        this.limit = limit;
    }

    /** Opens a pool of {@code threads} threads, for which up to {@code waiting} further requests wait. */
    public static RequestWorkers open(Vertx vertx, String name, int threads, int waiting) {
        return new RequestWorkers(vertx.createSharedWorkerExecutor(name, threads), threads + waiting);
    }

    /** Runs a request; the future fails with {@link RejectedExecutionException} where too many wait. */
    public <T> Future<T> run(Callable<T> request) {
        if (admitted.incrementAndGet() > limit) {
            admitted.decrementAndGet();
            return Future.failedFuture(new RejectedExecutionException(limit + " requests are under way; try again"));
        }
        return threads.executeBlocking(request, false)
                .map(result -> Objects.requireNonNull(result))
                .onComplete(_ -> admitted.decrementAndGet());
    }

    @Override
    public void close() throws Exception {
        threads.close().toCompletionStage().toCompletableFuture().get();
    }
}
