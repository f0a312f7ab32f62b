package io.gpufleet.allocation.model.ledger;

import java.time.Instant;

/**
 * An interval that has ended.
 *
 * @param from start by the node's clock, inclusive
 * @param to end by the node's clock, exclusive
 * @param estimated true when the end was not seen
 * @param adjustments number of adjustments published of it so far
 */
public record ClosedInterval(
        String id,
        Holding holding,
        Instant from,
        Instant to,
        Quality quality,
        boolean estimated,
        EndReason reason,
        int adjustments) {
    /** Milli-GPU-seconds. */
    public long gpuMillis() {
        return GpuTime.millis(from, to, holding.device().shareOf());
    }

    /** The same interval with another end, one adjustment later. */
    ClosedInterval ending(Instant end, boolean stillEstimated, EndReason why) {
        return new ClosedInterval(id, holding, from, end, quality, stillEstimated, why, adjustments + 1);
    }
}
