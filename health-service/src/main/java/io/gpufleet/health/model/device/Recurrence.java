package io.gpufleet.health.model.device;

import io.gpufleet.health.model.policy.BootLimit;
import java.time.Instant;

/**
 * Boots that ended faults of a device for which it was out of service.
 *
 * @param boots number of such boots
 * @param last append time of the first signal after the last one
 * @param bootId boot of the faults that the last one ended
 */
public record Recurrence(int boots, Instant last, String bootId) {
    /** No boot ended a fault. */
    public static final Recurrence NONE = new Recurrence(0, Instant.EPOCH, "");

    /** Counts a boot that ended faults of another one, once; boots before the limit's window are not counted on. */
    public Recurrence ended(String ofBoot, BootLimit limit, Instant at) {
        if (ofBoot.equals(bootId)) {
            return this;
        }
        return new Recurrence(at.isBefore(last.plus(limit.within())) ? boots + 1 : 1, at, ofBoot);
    }

    /** True for a fault that begins then and that no further boot may end. */
    public boolean exceeds(BootLimit limit, Instant faultSince) {
        return boots >= limit.boots() && faultSince.isBefore(last.plus(limit.within()));
    }
}
