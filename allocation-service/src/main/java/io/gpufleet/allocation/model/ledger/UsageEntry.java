package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.Holding;
import java.time.Instant;

/** An entry that the ledger publishes. Published entries never change. */
public sealed interface UsageEntry {
    /** The device, and who held it. */
    Holding holding();

    /** A closed interval. */
    record Closed(ClosedUsageInterval interval) implements UsageEntry {
        @Override
        public Holding holding() {
            return interval.holding();
        }
    }

    /**
     * A difference that corrects a closed interval.
     *
     * @param id {@code <interval id>/<n>}
     * @param from start of the time that is added or subtracted
     * @param to end of that time
     * @param gpuMillis the difference in milli-GPU-seconds; negative when it subtracts
     */
    record Adjusted(
            String id,
            Holding holding,
            Instant from,
            Instant to,
            IntervalQuality quality,
            long gpuMillis,
            IntervalEndReason reason)
            implements UsageEntry {}
}
