package io.gpufleet.allocation.model.ledger;

import java.time.Duration;
import java.time.Instant;

/**
 * Clock of a node.
 *
 * @param lastSnapshot time of the newest snapshot by the node's clock; the epoch before the first
 * @param aheadMillis how far the node's clock was ahead of the log's
 * @param heardAt append time of the last word of its daemon, heartbeats included, as far as it was recorded; the epoch
 *     before the first
 */
public record NodeClock(Instant lastSnapshot, long aheadMillis, Instant heardAt) {
    /** Clock of a node without snapshots. */
    public static final NodeClock UNKNOWN = new NodeClock(Instant.EPOCH, 0, Instant.EPOCH);

    /** Silence after which a daemon vouches no longer for what is held; heartbeats come every 10 s. */
    public static final Duration TOLERATED_SILENCE = Duration.ofMinutes(3);

    /** Converts an append time of the log. */
    Instant at(Instant appendTime) {
        return appendTime.plusMillis(aheadMillis);
    }

    /** The clock after a word of the daemon; an older one changes nothing. */
    NodeClock heard(Instant appendTime) {
        return appendTime.isAfter(heardAt) ? new NodeClock(lastSnapshot, aheadMillis, appendTime) : this;
    }

    /** The clock after a snapshot. */
    NodeClock snapshot(Instant at, long ahead) {
        return new NodeClock(at, ahead, heardAt);
    }
}
