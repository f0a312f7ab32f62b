package io.gpufleet.allocation.model.ledger;

import java.time.Instant;

/** Whole GPU-seconds. An interval cut in pieces weighs exactly what it weighed before. */
public final class GpuTime {
    private GpuTime() {}

    /** Milli-GPU-seconds from one second of the node's clock to another, of one share of a device. */
    public static long millis(Instant from, Instant to, int shareOf) {
        return Math.floorDiv(to.getEpochSecond() * 1000, shareOf)
                - Math.floorDiv(from.getEpochSecond() * 1000, shareOf);
    }
}
