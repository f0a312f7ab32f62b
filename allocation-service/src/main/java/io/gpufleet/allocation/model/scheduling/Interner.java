package io.gpufleet.allocation.model.scheduling;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Keeps one of equal values: what many pods have in common takes memory once. Thread-safe. */
public final class Interner<T> {
    /** Number beyond which those that are known are forgotten, and shared no longer. */
    private static final int MAX = 20_000;

    private final Map<T, T> known = new ConcurrentHashMap<>();

    /** The value that was given first of those that equal this one. */
    public T intern(T value) {
        if (known.size() >= MAX) {
            known.clear();
        }
        T same = known.putIfAbsent(value, value);
        return same == null ? value : same;
    }
}
