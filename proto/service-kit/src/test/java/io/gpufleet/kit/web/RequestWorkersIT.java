package io.gpufleet.kit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests beside the event loops. */
class RequestWorkersIT {
    private static <T> T get(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    @Test
    void requestBeyondThoseThatMayWaitIsRefusedAndLaterOnesAreServed() throws Exception {
        Vertx vertx = VertxInstance.open();
        try (var workers = RequestWorkers.open(vertx, "queries", 1, 1)) {
            // Given
            var release = new CountDownLatch(1);
            Future<String> running = workers.run(() -> {
                release.await();
                return Thread.currentThread().getName();
            });
            Future<Integer> waiting = workers.run(() -> 2);
            // When
            Future<Integer> refused = workers.run(() -> 3);
            // Then
            assertThatThrownBy(() -> get(refused)).hasCauseInstanceOf(RejectedExecutionException.class);
            release.countDown();
            assertThat(get(running)).startsWith("queries");
            assertThat(get(waiting)).isEqualTo(2);
            assertThat(get(workers.run(() -> 4))).isEqualTo(4);
        } finally {
            get(vertx.close());
        }
    }
}
