package io.gpufleet.allocation.model.holding;

import java.time.Instant;

/** Time of GPUs in whole seconds. The parts of a split interval add up to the interval exactly. */
public final class GpuTime {
    private GpuTime() {}

    /** Milli-GPU-seconds from one second of the node's clock to another, for a device that is a part of a GPU. */
    public static long millis(Instant from, Instant to, GpuFraction fraction) {
        return Math.floorDiv(to.getEpochSecond() * 1000 * fraction.numerator(), fraction.denominator())
                - Math.floorDiv(from.getEpochSecond() * 1000 * fraction.numerator(), fraction.denominator());
    }
}
