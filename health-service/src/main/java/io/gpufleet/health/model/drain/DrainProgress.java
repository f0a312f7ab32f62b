package io.gpufleet.health.model.drain;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * How far the drain of a node is.
 *
 * @param phase what it does
 * @param since begin of the drain; deadlines count from it
 * @param at append time of the newest report of a drain under way; the interval of its jobs counts from it
 * @param jobs jobs of the pods that the drain is allowed to evict, or the last one was, sorted
 * @param message one line for people
 */
public record DrainProgress(Phase phase, Instant since, Instant at, List<String> jobs, String message) {
    /** Nothing was drained. */
    public static final DrainProgress NONE = new DrainProgress(Phase.NONE, Instant.EPOCH, Instant.EPOCH, List.of(), "");

    /** Phases of a drain. */
    public enum Phase {
        /** No drain. */
        NONE,
        /** It has not begun: other drains come first. */
        WAITING,
        /** Pods got their notice, or are being evicted. */
        ACTIVE,
        /** Every pod that had to leave has left. */
        DRAINED,
        /** It was ended before: the node is in service again, or may not be drained any more. */
        STOPPED
    }

    /** Jobs that may have lost pods here within the interval, so that no other node may take more from them. */
    public List<String> jobsSince(Duration interval, Instant now) {
        return active() || now.isBefore(at.plus(interval)) ? jobs : List.of();
    }

    /** Sorts the jobs. */
    public DrainProgress {
        jobs = jobs.stream().sorted().distinct().toList();
    }

    /** True while pods are being evicted. */
    public boolean active() {
        return phase == Phase.ACTIVE;
    }

    /** True when both say the same, whenever. */
    public boolean saysAs(DrainProgress other) {
        return phase == other.phase && jobs.equals(other.jobs) && message.equals(other.message);
    }
}
