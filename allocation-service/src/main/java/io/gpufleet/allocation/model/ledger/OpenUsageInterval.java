package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.Holding;
import java.time.Instant;

/**
 * An interval that has not ended.
 *
 * @param from start by the node's clock
 * @param openedAt append time of the fact that opened it
 */
public record OpenUsageInterval(String id, Holding holding, Instant from, IntervalQuality quality, Instant openedAt) {
    /** Unit of the device that the interval is of. */
    DeviceSlot slot() {
        return holding.device().slot();
    }

    /** The same interval with the UID of its pod. */
    OpenUsageInterval withPodUid(String podUid) {
        return new OpenUsageInterval(
                id, new Holding(holding.holder().withPodUid(podUid), holding.device()), from, quality, openedAt);
    }

    /** The same interval with another quality from its start. */
    OpenUsageInterval withQuality(IntervalQuality other) {
        return new OpenUsageInterval(id, holding, from, other, openedAt);
    }

    /** The rest of the interval after a split. */
    OpenUsageInterval continuedFrom(Instant split, IntervalQuality next) {
        return new OpenUsageInterval(IntervalId.continued(id, split), holding, split, next, openedAt);
    }

    /** Closes the interval; an end before its start becomes the start. */
    ClosedUsageInterval close(Instant end, boolean estimated, IntervalEndReason reason) {
        return new ClosedUsageInterval(
                id, holding, from, end.isBefore(from) ? from : end, quality, estimated, reason, 0);
    }
}
