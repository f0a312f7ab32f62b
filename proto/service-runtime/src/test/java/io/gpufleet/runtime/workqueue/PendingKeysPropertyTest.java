package io.gpufleet.runtime.workqueue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.NullMarked;

/** Any order of adds, ends and waits, against a model: the keys that are dirty, those that are worked on, and when each is due. */
@NullMarked
class PendingKeysPropertyTest {
    private static final int KEYS = 8;
    private static final int STEPS = 200;
    private static final Backoff BACKOFF = new Backoff(Duration.ofNanos(4), Duration.ofNanos(64));

    @Property(tries = 2000)
    void noKeyHasTwoWorkersNoAddIsLostAndNoMoreWorkThanAllowed(@ForAll long seed) {
        new Run(new Random(seed)).run();
    }

    private static final class Run {
        private final Random random;
        private final int limit;
        private final PendingKeys<Integer> pending;
        private final Set<Integer> dirty = new HashSet<>();
        private final Set<Integer> running = new HashSet<>();
        private final Map<Integer, Long> due = new HashMap<>();
        private final Map<Integer, Integer> failures = new HashMap<>();
        private long now;

        Run(Random random) {
            this.random = random;
            this.limit = 1 + random.nextInt(4);
            this.now = random.nextBoolean() ? Long.MAX_VALUE - 300 : 0;
            this.pending = new PendingKeys<>(limit, BACKOFF, () -> 1);
        }

        void run() {
            for (int i = 0; i < STEPS; i++) {
                switch (random.nextInt(4)) {
                    case 0, 1 -> add(random.nextInt(KEYS));
                    case 2 -> endOne();
                    default -> now += random.nextInt(20);
                }
                begin();
            }
            drain();
        }

        private void add(int key) {
            pending.add(key);
            dirty.add(key);
        }

        private void begin() {
            for (Map.Entry<Integer, Long> next : Map.copyOf(due).entrySet()) {
                if (next.getValue() - now <= 0) {
                    due.remove(next.getKey());
                    dirty.add(next.getKey());
                }
            }
            for (int key : pending.begin(now)) {
                assertThat(running).as("one worker for a key").doesNotContain(key);
                assertThat(dirty).as("work that was asked for").contains(key);
                dirty.remove(key);
                due.remove(key);
                running.add(key);
            }
            assertThat(running).hasSizeLessThanOrEqualTo(limit);
            Set<Integer> idle = new HashSet<>(dirty);
            idle.removeAll(running);
            assertThat(running.size() == limit || idle.isEmpty())
                    .as("no worker rests while a key waits")
                    .isTrue();
            assertThat(pending.nextDue())
                    .isEqualTo(due.values().stream()
                            .reduce((one, other) -> one - other < 0 ? one : other)
                            .map(OptionalLong::of)
                            .orElse(OptionalLong.empty()));
            assertThat(pending.isIdle()).isEqualTo(dirty.isEmpty() && running.isEmpty() && due.isEmpty());
        }

        private void endOne() {
            if (!running.isEmpty()) {
                List<Integer> any = new ArrayList<>(running);
                end(any.get(random.nextInt(any.size())), anyResult());
            }
        }

        private ReconcileResult anyResult() {
            return switch (random.nextInt(3)) {
                case 0 -> new ReconcileResult.Done();
                case 1 -> new ReconcileResult.RequeueAfter(Duration.ofNanos(random.nextInt(50)));
                default -> new ReconcileResult.RetryAfter(Duration.ofNanos(random.nextInt(50)));
            };
        }

        private void end(int key, ReconcileResult result) {
            pending.end(key, result, now);
            running.remove(key);
            switch (result) {
                case ReconcileResult.Done() -> failures.remove(key);
                case ReconcileResult.RequeueAfter(Duration after) -> {
                    failures.remove(key);
                    due.put(key, now + after.toNanos());
                }
                case ReconcileResult.RetryAfter(Duration atLeast) -> {
                    long backoff = Math.min(64, 4L << Math.min(8, failures.merge(key, 1, Integer::sum) - 1));
                    due.put(key, now + Math.max(atLeast.toNanos(), backoff));
                }
            }
        }

        /** Everything that was asked for is done in the end. */
        private void drain() {
            while (!pending.isIdle()) {
                begin();
                List.copyOf(running).forEach(key -> end(key, new ReconcileResult.Done()));
                now += 10;
            }
            assertThat(dirty).isEmpty();
            assertThat(due).isEmpty();
        }
    }
}
