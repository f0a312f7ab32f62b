package io.gpufleet.runtime.workqueue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedSet;
import java.util.TreeSet;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keys that wait, that are worked on, and that are due later; for one thread at a time. A key is begun in the order in which
 * it was added, and only while no work on it runs. Times are nanoseconds of a monotonic clock.
 */
public final class PendingKeys<K> {
    private final int limit;
    private final Backoff backoff;
    private final DoubleSupplier random;
    private final SequencedSet<K> ready = new LinkedHashSet<>();
    /** Keys that are worked on, and whether each was added meanwhile. */
    private final Map<K, Boolean> running = new HashMap<>();

    private final Map<K, Due<K>> dueByKey = new HashMap<>();
    private final TreeSet<Due<K>> dueByTime = new TreeSet<>(Due.EARLIEST);
    private final Map<K, Integer> failures = new HashMap<>();
    private long scheduled;
    private boolean stopped;

    /** A key that is added at a time; the order tells two of one time apart. */
    private record Due<K>(long at, long order, K key) {
        // By difference: a monotonic clock may pass the largest number.
        private static final Comparator<Due<?>> EARLIEST = (one, other) ->
                one.at() == other.at() ? Long.compare(one.order(), other.order()) : Long.signum(one.at() - other.at());
    }

    /**
     * Nothing waits yet.
     *
     * @param limit how many keys are worked on at once
     * @param random spreads the waits, between 0 and 1
     */
    public PendingKeys(int limit, Backoff backoff, DoubleSupplier random) {
        this.limit = limit;
        this.backoff = backoff;
        this.random = random;
    }

    /** A key has to be worked on; one that is worked on already once more. */
    public void add(K key) {
        if (!stopped && running.computeIfPresent(key, (_, _) -> true) == null) {
            ready.add(key);
        }
    }

    /** Takes the keys to begin now; each is worked on until it is ended. */
    public List<K> begin(long now) {
        while (!dueByTime.isEmpty() && dueByTime.first().at() - now <= 0) {
            K key = dueByTime.first().key();
            cancel(key);
            add(key);
        }
        List<K> begun = new ArrayList<>();
        while (running.size() < limit && !ready.isEmpty()) {
            K key = ready.removeFirst();
            // This work says anew when the next one is due.
            cancel(key);
            running.put(key, false);
            begun.add(key);
        }
        return begun;
    }

    /** The work on a key is over, with this result. */
    public void end(K key, ReconcileResult result, long now) {
        boolean again = Boolean.TRUE.equals(running.remove(key));
        if (stopped) {
            return;
        }
        switch (result) {
            case ReconcileResult.Done() -> failures.remove(key);
            case ReconcileResult.RequeueAfter(Duration after) -> {
                failures.remove(key);
                schedule(key, now, after);
            }
            case ReconcileResult.RetryAfter(Duration atLeast) -> {
                Duration wait = backoff.after(failures.merge(key, 1, Integer::sum), random.getAsDouble());
                schedule(key, now, wait.compareTo(atLeast) > 0 ? wait : atLeast);
            }
        }
        if (again) {
            ready.add(key);
        }
    }

    private void schedule(K key, long now, Duration after) {
        var due = new Due<>(now + after.toNanos(), scheduled++, key);
        dueByKey.put(key, due);
        dueByTime.add(due);
    }

    private void cancel(K key) {
        @Nullable Due<K> due = dueByKey.remove(key);
        if (due != null) {
            dueByTime.remove(due);
        }
    }

    /** When {@link #begin} has to be asked next, if nothing is added or ended before. */
    public OptionalLong nextDue() {
        return dueByTime.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(dueByTime.first().at());
    }

    /** Drops what waits; from now on nothing is begun. */
    public void stop() {
        stopped = true;
        ready.clear();
        dueByKey.clear();
        dueByTime.clear();
        failures.clear();
    }

    /** True while no key waits, is worked on or is due later. */
    public boolean isIdle() {
        return ready.isEmpty() && running.isEmpty() && dueByTime.isEmpty();
    }
}
