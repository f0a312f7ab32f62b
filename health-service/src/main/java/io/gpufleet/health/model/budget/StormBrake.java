package io.gpufleet.health.model.budget;

import java.time.Duration;

/**
 * How many nodes the policy may taint in a time: the larger of both numbers. It opens by itself as time passes.
 *
 * @param percent of all nodes
 * @param atLeast whatever the number of nodes
 */
public record StormBrake(int percent, int atLeast, Duration within) {
    /** A time before the calendar begins could not be counted from. */
    private static final Duration MAX_WITHIN = Duration.ofDays(30);

    /** 5 % of the fleet and at least 10 nodes in 5 min. */
    public static final StormBrake STANDARD = new StormBrake(5, 10, Duration.ofMinutes(5));

    /** Never holds a node back. */
    public static final StormBrake NONE = new StormBrake(100, Integer.MAX_VALUE, Duration.ofMinutes(5));

    /** Rejects a brake that no number satisfies. */
    public StormBrake {
        if (percent < 1 || percent > 100 || atLeast < 1 || !within.isPositive() || within.compareTo(MAX_WITHIN) > 0) {
            throw new IllegalArgumentException(
                    "brake takes percent 1 to 100, atLeast from 1 and a positive within of at most P30D, not " + percent
                            + ", " + atLeast + " and " + within);
        }
    }

    int of(int nodes) {
        return Math.max(atLeast, (int) ((long) percent * nodes / 100));
    }
}
