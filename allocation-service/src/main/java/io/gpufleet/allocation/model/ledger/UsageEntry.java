package io.gpufleet.allocation.model.ledger;

import java.time.Instant;

/** What the ledger publishes. Nothing published is ever edited. */
public sealed interface UsageEntry {
    /** An interval ended. */
    record Closed(ClosedInterval interval) implements UsageEntry {}

    /**
     * An ended interval is corrected by a difference.
     *
     * @param id {@code <interval id>/<n>}
     * @param from start of the stretch that is added or taken back
     * @param to end of it
     * @param gpuMillis the difference in milli-GPU-seconds; negative when it takes back
     */
    record Adjusted(
            String id, Holding holding, Instant from, Instant to, Quality quality, long gpuMillis, EndReason reason)
            implements UsageEntry {}
}
