package io.gpufleet.allocation.model.usage;

import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import java.time.Instant;

/**
 * A stretch of time of one holder on one device: an interval, or what an adjustment adds to one or takes off it.
 *
 * @param id id of the interval or of the adjustment
 * @param quality quality as the API names it
 * @param sign 1, or -1 where an adjustment takes the time off
 */
public record UsagePiece(
        String id,
        String node,
        Holding holding,
        UsageAttributes attributes,
        Instant from,
        Instant to,
        String quality,
        int sign) {
    /** True when a part of the piece is within a window. */
    public boolean overlaps(Instant windowFrom, Instant windowTo) {
        return from.isBefore(windowTo) && to.isAfter(windowFrom);
    }

    /** Whole seconds of the piece within a window, of the node's clock, with the sign. */
    public long secondsWithin(Instant windowFrom, Instant windowTo) {
        long start = Math.max(from.getEpochSecond(), windowFrom.getEpochSecond());
        long end = Math.min(to.getEpochSecond(), windowTo.getEpochSecond());
        return sign * Math.max(0, end - start);
    }
}
