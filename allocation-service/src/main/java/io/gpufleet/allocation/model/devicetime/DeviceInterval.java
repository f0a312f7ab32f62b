package io.gpufleet.allocation.model.devicetime;

import io.gpufleet.allocation.model.holding.GpuFraction;
import java.time.Instant;

/**
 * Time of a GPU that is added to one condition. What is not {@link DeviceCondition#IDLE} is taken from the idle time, and so
 * is all time of holders: the sum of all conditions and of what was held is the time for which the GPU was there.
 *
 * @param gpu without a UUID where {@code weight} is that of several GPUs of the model
 * @param id unique within the cluster; empty for time that is not published yet
 * @param weight part of the GPU; negative where time is taken back, or was held meanwhile
 */
public record DeviceInterval(
        String id, GpuIdentity gpu, DeviceCondition condition, Instant from, Instant to, GpuFraction weight) {
    /**
     * Time of a stretch. A GPU that is not there is held all the same, as far as the ledger knows: that time is no part of
     * its idle time, and what a holder takes from it is given back.
     */
    static DeviceInterval of(String id, GpuIdentity gpu, Stretch stretch, GpuFraction weight) {
        boolean absent = stretch.condition() == DeviceCondition.ABSENT;
        return new DeviceInterval(
                id,
                gpu,
                absent ? DeviceCondition.IDLE : stretch.condition(),
                stretch.from(),
                stretch.to(),
                absent ? weight.negated() : weight);
    }
}
