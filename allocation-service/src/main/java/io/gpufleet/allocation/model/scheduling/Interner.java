package io.gpufleet.allocation.model.scheduling;

import java.util.HashMap;
import java.util.Map;

/** Keeps one of equal values: what many pods have in common takes memory once. For one thread at a time. */
public final class Interner<T> {
    /** Number beyond which those that are known are forgotten, and shared no longer. */
    private static final int MAX = 20_000;

    private final Map<T, T> known = new HashMap<>();

    /** The value that was given first of those that equal this one. */
    public T intern(T value) {
        if (known.size() >= MAX) {
            known.clear();
        }
        T same = known.putIfAbsent(value, value);
        return same == null ? value : same;
    }
}
