package io.gpufleet.health.model.policy;

import java.time.Duration;
import java.util.stream.Stream;

/**
 * When a rule acts.
 *
 * @param grace how long a fault is suspect only
 * @param bootGrace how long after a boot it is suspect only
 * @param threshold how often it has to be observed
 * @param coalesce further observations within this time after one are not counted
 * @param recoveryDwell how long a device stays out of service after its last fault was cleared
 * @param probation a fault within this time after a recovery acts at once
 */
public record RuleTiming(
        Duration grace,
        Duration bootGrace,
        Threshold threshold,
        Duration coalesce,
        Duration recoveryDwell,
        Duration probation) {
    private static final Duration LONGEST = Duration.ofDays(30);

    /** At once. */
    public static final RuleTiming IMMEDIATE = after(Duration.ZERO);

    /** Rejects a time that is negative or beyond a month. */
    public RuleTiming {
        Stream.of(grace, bootGrace, coalesce, recoveryDwell, probation, threshold.within())
                .filter(time -> time.isNegative() || time.compareTo(LONGEST) > 0)
                .findFirst()
                .ifPresent(time -> {
                    throw new IllegalArgumentException("times take PT0S to P30D, not " + time);
                });
    }

    /** After a grace, and otherwise at once. */
    public static RuleTiming after(Duration grace) {
        return new RuleTiming(grace, Duration.ZERO, Threshold.FIRST, Duration.ZERO, Duration.ZERO, Duration.ZERO);
    }

    /** True when the first observation acts at any time. */
    public boolean isImmediate() {
        return grace.isZero() && bootGrace.isZero() && threshold.isFirst();
    }

    /** True when observations have to be remembered. */
    boolean countsObservations() {
        return !threshold.isFirst() || !coalesce.isZero();
    }
}
