package io.gpufleet.allocation.model.ledger;

import java.time.Instant;

/**
 * An interval that has not ended.
 *
 * @param from start by the node's clock
 * @param openedAt append time of the fact that opened it
 */
public record OpenInterval(String id, Holding holding, Instant from, Quality quality, Instant openedAt) {
    /** What it occupies. */
    DeviceSlot slot() {
        return holding.device().slot();
    }

    /** The same interval, its holder's UID learnt. */
    OpenInterval learning(String podUid) {
        return new OpenInterval(
                id, new Holding(holding.holder().learning(podUid), holding.device()), from, quality, openedAt);
    }

    /** The same interval, counting otherwise from its start. */
    OpenInterval counting(Quality other) {
        return new OpenInterval(id, holding, from, other, openedAt);
    }

    /** What is left after a cut. */
    OpenInterval after(Instant cut, Quality next) {
        return new OpenInterval(IntervalId.continued(id, cut), holding, cut, next, openedAt);
    }

    /** The interval, ended; an end before the start is the start. */
    ClosedInterval ended(Instant end, boolean estimated, EndReason reason) {
        return new ClosedInterval(id, holding, from, end.isBefore(from) ? from : end, quality, estimated, reason, 0);
    }
}
