package io.gpufleet.runtime.kubernetes;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Values that are forgotten after a time, and the oldest ones where there are too many. Thread-safe. */
final class ExpiringCache<K, V> {
    private record Remembered<V>(V value, long untilNanos) {}

    private final Map<K, Remembered<V>> entries;
    private final LongSupplier nanos;

    ExpiringCache(int limit, LongSupplier nanos) {
        this.nanos = nanos;
        this.entries = new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<K, Remembered<V>> eldest) {
                return size() > limit;
            }
        };
    }

    synchronized Optional<V> get(K key) {
        Remembered<V> entry = entries.get(key);
        if (entry == null || nanos.getAsLong() - entry.untilNanos() >= 0) {
            entries.remove(key);
            return Optional.empty();
        }
        return Optional.of(entry.value());
    }

    synchronized void put(K key, V value, Duration lifetime) {
        entries.remove(key);
        entries.put(key, new Remembered<>(value, nanos.getAsLong() + lifetime.toNanos()));
    }
}
