package io.gpufleet.allocation.model.ledger;

import java.time.Instant;

/**
 * An interval that has ended.
 *
 * @param from start by the node's clock, inclusive
 * @param to end by the node's clock, exclusive
 * @param endEstimated true when the exact end is not known
 * @param adjustments number of adjustments published so far
 */
public record ClosedUsageInterval(
        String id,
        Holding holding,
        Instant from,
        Instant to,
        IntervalQuality quality,
        boolean endEstimated,
        IntervalEndReason reason,
        int adjustments) {
    /** Milli-GPU-seconds. */
    public long gpuMillis() {
        return GpuTime.millis(from, to, holding.device().fraction());
    }

    /** The same interval with another end, one adjustment later. */
    ClosedUsageInterval withEnd(Instant end, boolean estimated, IntervalEndReason newReason) {
        return new ClosedUsageInterval(id, holding, from, end, quality, estimated, newReason, adjustments + 1);
    }
}
