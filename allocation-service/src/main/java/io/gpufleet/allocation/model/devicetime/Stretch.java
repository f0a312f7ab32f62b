package io.gpufleet.allocation.model.devicetime;

import java.time.Instant;

/** Time in which a GPU has one condition; {@code to} is {@link Instant#MAX} while it lasts. */
public record Stretch(DeviceCondition condition, Instant from, Instant to) {
    /** True for a condition whose time is published when it ended: idle time is what remains. */
    boolean isPublishable() {
        return condition != DeviceCondition.IDLE && condition != DeviceCondition.ABSENT && !to.equals(Instant.MAX);
    }
}
