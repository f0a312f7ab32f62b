package io.gpufleet.nodedaemon.app.counters;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Histogram of durations; written by any thread. */
public final class LatencyHistogram {
    private static final long[] BOUNDS_MICROS = {
        25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 250_000, 1_000_000, 5_000_000
    };

    private final LongAdder[] counts = new LongAdder[BOUNDS_MICROS.length + 1];
    private final LongAdder sumNanos = new LongAdder();

    LatencyHistogram() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    void observe(long nanos) {
        int bucket = 0;
        while (bucket < BOUNDS_MICROS.length && nanos > TimeUnit.MICROSECONDS.toNanos(BOUNDS_MICROS[bucket])) {
            bucket++;
        }
        counts[bucket].increment();
        sumNanos.add(nanos);
    }

    /**
     * The counts at one time; the sum may lack one observation of a concurrent write.
     *
     * @param buckets cumulative count for each upper bound; the last bound is infinite
     */
    public record Snapshot(List<Bucket> buckets, double sumSeconds) {
        /** Copies the list. */
        public Snapshot {
            buckets = List.copyOf(buckets);
        }

        /** Total number of observations. */
        public long count() {
            return buckets.isEmpty() ? 0 : buckets.getLast().atMost();
        }
    }

    /** A bucket: number of observations up to the bound in seconds. */
    public record Bucket(double seconds, long atMost) {}

    /** Returns the counts. */
    public Snapshot read() {
        var buckets = new ArrayList<Bucket>(counts.length);
        long soFar = 0;
        for (int i = 0; i < counts.length; i++) {
            soFar += counts[i].sum();
            buckets.add(
                    new Bucket(i < BOUNDS_MICROS.length ? BOUNDS_MICROS[i] / 1e6 : Double.POSITIVE_INFINITY, soFar));
        }
        return new Snapshot(Collections.unmodifiableList(buckets), sumNanos.sum() / 1e9);
    }
}
