package io.gpufleet.health.model.policy;

import java.time.Duration;

/**
 * How often a boot may end the faults of one device.
 *
 * @param boots so many boots may end a fault that withdraws the device; a later fault outlives the boot
 * @param within boots longer ago do not count
 */
public record BootLimit(int boots, Duration within) {
    /** Two boots in a week. */
    public static final BootLimit DEFAULT = new BootLimit(2, Duration.ofDays(7));

    /** Rejects a limit that no boot or no time satisfies. */
    public BootLimit {
        if (boots < 1 || boots > 100 || within.isNegative() || within.isZero()) {
            throw new IllegalArgumentException(
                    "bootLimit takes 1 to 100 boots within a positive duration, not " + boots + " within " + within);
        }
    }
}
