package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.GpuTime;
import io.gpufleet.allocation.model.holding.Holding;
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
    private static final int FIXED_BYTES = 96;

    /** About how many bytes of the node's state it takes. */
    int bytes() {
        return FIXED_BYTES + id.length() + holding.bytes();
    }

    /** Milli-GPU-seconds. */
    public long gpuMillis() {
        return GpuTime.millis(from, to, holding.device().fraction());
    }

    /** Id of the interval or of its newest adjustment: a piece that is split off once more has another id. */
    String publishedId() {
        return adjustments == 0 ? id : id + "/" + adjustments;
    }

    /** Whether the end of the pod proves unreachable time: an end in a later boot, or on a later machine, does not. */
    boolean provenBy(FinishedPod pod) {
        boolean settled = reason == IntervalEndReason.NODE_REBOOTED || reason == IntervalEndReason.MACHINE_REPLACED;
        return !settled || !pod.finishedAt().isAfter(to);
    }

    /** The same interval with another reason, which is not published. */
    ClosedUsageInterval withReason(IntervalEndReason other) {
        return new ClosedUsageInterval(id, holding, from, to, quality, endEstimated, other, adjustments);
    }

    /** The same interval with another end, one adjustment later. */
    ClosedUsageInterval withEnd(Instant end, boolean estimated, IntervalEndReason newReason) {
        return new ClosedUsageInterval(id, holding, from, end, quality, estimated, newReason, adjustments + 1);
    }
}
