package io.gpufleet.allocation.app;

import java.io.IOException;
import java.time.Instant;
import java.util.List;

/** Sums over the entries that the ledger published. */
public interface UsageSums {
    /**
     * One sum.
     *
     * @param quality quality of the intervals, in lower case
     * @param gpuSeconds GPU-seconds, with fractions
     * @param intervals number of intervals and adjustments in the sum
     */
    record UsageSum(String namespace, String model, String quality, double gpuSeconds, long intervals) {}

    /** Sums of the entries from one append time to another. Reads the log, so it blocks. */
    List<UsageSum> between(Instant from, Instant to) throws IOException;
}
