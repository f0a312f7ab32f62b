package io.gpufleet.runtime.record;

import java.util.Collection;
import java.util.stream.Stream;

/** Streams of records of which each is decoded or encoded by itself: those of a large batch on every core. */
public final class ManyRecords {
    /** Fewer are done before another thread has begun. */
    private static final int PARALLEL = 64;

    /** On one core another thread would only take its turns. */
    private static final boolean CORES = Runtime.getRuntime().availableProcessors() > 1;

    private ManyRecords() {}

    /** The records in their order. */
    public static <T> Stream<T> stream(Collection<T> records) {
        return CORES && records.size() >= PARALLEL ? records.parallelStream() : records.stream();
    }
}
