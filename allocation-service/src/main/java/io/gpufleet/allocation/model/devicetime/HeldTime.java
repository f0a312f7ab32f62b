package io.gpufleet.allocation.model.devicetime;

import io.gpufleet.allocation.model.holding.GpuFraction;
import java.time.Instant;

/**
 * Time in which a device had a holder.
 *
 * @param device the GPU or MIG device that was held
 * @param weight part of a GPU that the device is; negative where an adjustment takes the time off
 */
public record HeldTime(GpuIdentity device, GpuFraction weight, Instant from, Instant to) {}
