package io.gpufleet.allocation.model.devicetime;

import java.time.Instant;

/**
 * Time in which a node has a GPU, by the node's clock.
 *
 * @param until end, exclusive; {@link Instant#MAX} while the node has it
 * @param lostWithNode true when it ended with its node, and is back with it
 */
public record GpuPresence(GpuIdentity gpu, Instant from, Instant until, boolean lostWithNode) {
    /** A GPU that the node has from a time on. */
    static GpuPresence since(GpuIdentity gpu, Instant from) {
        return new GpuPresence(gpu, from, Instant.MAX, false);
    }

    /** True while the node has it. */
    public boolean lasts() {
        return until.equals(Instant.MAX);
    }

    boolean covers(Instant at) {
        return !at.isBefore(from) && at.isBefore(until);
    }

    /** The same time that ended; an end before its start becomes the start. */
    GpuPresence endedAt(Instant end, boolean withNode) {
        return new GpuPresence(gpu, from, end.isBefore(from) ? from : end, withNode);
    }

    /** The same time of any GPU of the model. */
    GpuPresence likes() {
        return new GpuPresence(gpu.ofAnyGpu(), from, until, false);
    }
}
