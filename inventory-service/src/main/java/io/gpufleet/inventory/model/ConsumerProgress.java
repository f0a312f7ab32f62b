package io.gpufleet.inventory.model;

import java.time.Duration;
import java.time.Instant;

/**
 * Since when this replica has consumed heartbeats without a gap. Silence of a node counts only within that time: after a
 * takeover, a lag or a pause of the process, heartbeats may have been sent that were not read.
 *
 * @param gapFreeSince start of the time without a gap
 * @param lastPolled time of the last poll
 * @param lastCaughtUp last time at which everything appended had been read
 */
public record ConsumerProgress(Instant gapFreeSince, Instant lastPolled, Instant lastCaughtUp) {
    /** A longer time between polls, or without having caught up, is a gap. */
    public static final Duration MAX_GAP = Duration.ofSeconds(5);

    /** Progress of a consumer that starts now. */
    public static ConsumerProgress startingAt(Instant now) {
        return new ConsumerProgress(now, now, now);
    }

    /**
     * Whether a consumer with this lag, in records, has caught up. A node sends a heartbeat every 10 s, so a lag of a tenth
     * of the nodes is about one second.
     */
    public static boolean isCaughtUp(long lag, int nodes) {
        return lag <= nodes / 10;
    }

    /** Progress after a poll. */
    public ConsumerProgress afterPoll(boolean caughtUp, Instant now) {
        boolean gap = now.isAfter(lastPolled.plus(MAX_GAP)) || (!caughtUp && now.isAfter(lastCaughtUp.plus(MAX_GAP)));
        return new ConsumerProgress(gap ? now : gapFreeSince, now, caughtUp ? now : lastCaughtUp);
    }

    /** Duration for which a node was silent while this replica consumed without a gap. */
    public Duration silenceSince(Instant lastHeartbeat) {
        Instant from = lastHeartbeat.isAfter(gapFreeSince) ? lastHeartbeat : gapFreeSince;
        return from.isAfter(lastCaughtUp) ? Duration.ZERO : Duration.between(from, lastCaughtUp);
    }
}
