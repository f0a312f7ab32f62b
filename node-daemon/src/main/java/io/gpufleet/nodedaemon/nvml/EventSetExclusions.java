package io.gpufleet.nodedaemon.nvml;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * GPUs that are left out of the event set, since with one of them each wait for the set fails and the events of the other GPUs
 * are not delivered. Each is tried again by itself, more and more rarely.
 */
final class EventSetExclusions {
    private static final Duration FIRST_DELAY = Duration.ofSeconds(5);
    private static final Duration MAX_DELAY = Duration.ofMinutes(10);

    private final LongSupplier nanoTime;
    private final Map<String, Exclusion> excluded = new HashMap<>();

    private record Exclusion(long nanos, Duration delay) {}

    EventSetExclusions(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    boolean contains(String uuid) {
        return excluded.containsKey(uuid);
    }

    /** Whether the GPU is excluded, and it is time to try it again. */
    boolean isDue(String uuid) {
        Exclusion exclusion = excluded.get(uuid);
        return exclusion != null
                && nanoTime.getAsLong() - exclusion.nanos() >= exclusion.delay().toNanos();
    }

    /** A wait for events of this GPU alone failed. */
    void failed(String uuid) {
        excluded.merge(
                uuid,
                new Exclusion(nanoTime.getAsLong(), FIRST_DELAY),
                (before, first) ->
                        new Exclusion(first.nanos(), shorter(before.delay().multipliedBy(2), MAX_DELAY)));
    }

    void passed(String uuid) {
        excluded.remove(uuid);
    }

    /** The excluded GPUs. */
    Set<String> uuids() {
        return Set.copyOf(excluded.keySet());
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
