package io.gpufleet.nodedaemon.app;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** How long something took, counted by duration; written from anywhere. */
public final class Latencies {
    private static final long[] BOUNDS_MICROS = {
        25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 250_000, 1_000_000, 5_000_000
    };

    private final LongAdder[] counts = new LongAdder[BOUNDS_MICROS.length + 1];
    private final LongAdder sumNanos = new LongAdder();

    Latencies() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    void took(long nanos) {
        int bucket = 0;
        while (bucket < BOUNDS_MICROS.length && nanos > TimeUnit.MICROSECONDS.toNanos(BOUNDS_MICROS[bucket])) {
            bucket++;
        }
        counts[bucket].increment();
        sumNanos.add(nanos);
    }

    /**
     * The counts at one time; a sum that is read while somebody writes may be one behind.
     *
     * @param buckets every bound with the number of those that took at most so long; the last bound is infinite
     */
    public record Histogram(List<Bucket> buckets, double sumSeconds) {
        /** Copies the list. */
        public Histogram {
            buckets = List.copyOf(buckets);
        }

        /** How many there were. */
        public long count() {
            return buckets.isEmpty() ? 0 : buckets.getLast().atMost();
        }
    }

    /** How many took at most so many seconds. */
    public record Bucket(double seconds, long atMost) {}

    /** What was counted up to now. */
    public Histogram read() {
        var buckets = new ArrayList<Bucket>(counts.length);
        long soFar = 0;
        for (int i = 0; i < counts.length; i++) {
            soFar += counts[i].sum();
            buckets.add(
                    new Bucket(i < BOUNDS_MICROS.length ? BOUNDS_MICROS[i] / 1e6 : Double.POSITIVE_INFINITY, soFar));
        }
        return new Histogram(Collections.unmodifiableList(buckets), sumNanos.sum() / 1e9);
    }
}
