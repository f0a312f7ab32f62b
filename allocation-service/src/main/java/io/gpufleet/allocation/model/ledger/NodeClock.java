package io.gpufleet.allocation.model.ledger;

import java.time.Instant;

/**
 * Clock of a node.
 *
 * @param lastSnapshot time of the newest snapshot by the node's clock; the epoch before the first
 * @param aheadMillis how far the node's clock was ahead of the log's
 */
public record NodeClock(Instant lastSnapshot, long aheadMillis) {
    /** Clock of a node without snapshots. */
    public static final NodeClock UNKNOWN = new NodeClock(Instant.EPOCH, 0);

    /** Converts an append time of the log. */
    Instant at(Instant appendTime) {
        return appendTime.plusMillis(aheadMillis);
    }
}
