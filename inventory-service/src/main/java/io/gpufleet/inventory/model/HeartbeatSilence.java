package io.gpufleet.inventory.model;

import java.time.Duration;

/**
 * Record of the heartbeats of one node. Silence counts only while its partition is read to the end: heartbeats that
 * lie unread, or that no broker can accept, are no silence.
 *
 * @param node node name
 * @param readFor how long the partitions of its events have been read to their ends without a pause
 * @param quietFor time since its last heartbeat, or since this replica listens
 */
public record HeartbeatSilence(String node, Duration readFor, Duration quietFor) {
    /** Whether a silence of this length would have been noticed. */
    boolean noticeable(Duration timeout) {
        return readFor.compareTo(timeout) > 0;
    }

    /** Whether it was quiet for longer, and an event would have been noticed. */
    public boolean lasts(Duration timeout) {
        return noticeable(timeout) && quiet(timeout);
    }

    /** Whether it was quiet for longer. */
    boolean quiet(Duration timeout) {
        return quietFor.compareTo(timeout) > 0;
    }
}
