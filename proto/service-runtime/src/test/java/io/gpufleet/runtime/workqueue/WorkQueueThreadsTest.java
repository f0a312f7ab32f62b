package io.gpufleet.runtime.workqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that add to a queue whose steps run on threads: what each seed wanted is seen by a step that began later. */
@NullMarked
class WorkQueueThreadsTest {
    private static final int KEYS = 16;
    private static final int ADDERS = 4;
    private static final int ADDS = 5_000;
    private static final int WORKERS = 3;
    private static final Backoff BACKOFF = new Backoff(Duration.ofNanos(1_000), Duration.ofMillis(1));

    private final AtomicLongArray wanted = new AtomicLongArray(KEYS);
    private final AtomicLongArray seen = new AtomicLongArray(KEYS);
    private final AtomicIntegerArray workers = new AtomicIntegerArray(KEYS);
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger violations = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void noAddIsLostAndNoKeyHasTwoWorkers(long seed) throws Exception {
        try (var queue = new WorkQueue<Integer>(
                new WorkQueue.Settings("test", WORKERS, BACKOFF), WorkScheduler.virtualThreads("test"), this::step)) {
            List<Thread> adders = new ArrayList<>();
            for (int adder = 0; adder < ADDERS; adder++) {
                var random = new Random(seed * ADDERS + adder);
                adders.add(Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < ADDS; i++) {
                        int key = random.nextInt(KEYS);
                        wanted.incrementAndGet(key);
                        queue.add(key);
                    }
                }));
            }
            for (Thread adder : adders) {
                adder.join();
            }
            await().until(() -> IntStream.range(0, KEYS).allMatch(key -> seen.get(key) == wanted.get(key)));
        }
        assertThat(violations).hasValue(0);
    }

    /** Every third step fails, and is repeated. */
    private ReconcileResult step(int key) {
        if (workers.incrementAndGet(key) > 1 || atOnce.incrementAndGet() > WORKERS) {
            violations.incrementAndGet();
        }
        long asked = wanted.get(key);
        boolean fails = asked % 3 == 0 && seen.get(key) % 2 == 0;
        seen.set(key, asked);
        atOnce.decrementAndGet();
        workers.decrementAndGet(key);
        return fails ? ReconcileResult.RetryAfter.backoff() : new ReconcileResult.Done();
    }
}
