package io.gpufleet.inventory.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The limit of the executor, and its close. */
class ConcurrencyLimitedExecutorTest {
    @Test
    void atMostTheLimitRunsAtOnceAndCloseWaitsForAll() throws Exception {
        // Given
        var release = new Semaphore(0);
        var started = new Semaphore(0);
        var ended = new AtomicInteger();
        boolean third;
        try (var executor = new ConcurrencyLimitedExecutor(2)) {
            // When
            for (int i = 0; i < 5; i++) {
                executor.execute(() -> {
                    started.release();
                    release.acquireUninterruptibly();
                    ended.incrementAndGet();
                });
            }
            started.acquire(2);
            third = started.tryAcquire(100, TimeUnit.MILLISECONDS);
            release.release(5);
        }
        // Then
        assertThat(third).isFalse();
        assertThat(ended).hasValue(5);
    }
}
