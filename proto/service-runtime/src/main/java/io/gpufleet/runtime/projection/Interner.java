package io.gpufleet.runtime.projection;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Returns one object for equal values, so that the states of a fleet keep once, not once a GPU, what all GPUs of a model share.
 * Thread-safe.
 *
 * @param <T> type of the immutable values
 */
public final class Interner<T> {
    private final int limit;
    private final ConcurrentMap<T, T> known = new ConcurrentHashMap<>();

    /** An interner of that many different values; further ones are returned as they are. */
    public Interner(int limit) {
        this.limit = limit;
    }

    /** The first value that was equal to this one. */
    public T intern(T value) {
        T first = known.get(value);
        if (first != null) {
            return first;
        }
        if (known.size() >= limit) {
            return value;
        }
        T other = known.putIfAbsent(value, value);
        return other == null ? value : other;
    }
}
