package io.gpufleet.allocation.app;

import java.io.IOException;
import java.time.Instant;
import java.util.List;

/** Sums of what the ledger published. */
public interface UsageSums {
    /**
     * One sum.
     *
     * @param quality how it counts, in lower case
     * @param gpuSeconds whole and parts of GPU-seconds
     * @param intervals number of intervals and adjustments in it
     */
    record Row(String namespace, String model, String quality, double gpuSeconds, long intervals) {}

    /** Sums of everything published from one append time to another; reads the log, so it blocks. */
    List<Row> between(Instant from, Instant to) throws IOException;
}
