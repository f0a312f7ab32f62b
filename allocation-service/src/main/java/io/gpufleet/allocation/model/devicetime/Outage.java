package io.gpufleet.allocation.model.devicetime;

import java.time.Instant;

/**
 * Time in which a GPU is not simply idle while nobody holds it, by the node's clock.
 *
 * @param deviceUuid UUID of the GPU or of one of its MIG devices; {@link #EVERY_GPU} for all of the node
 * @param to end, exclusive; {@link Instant#MAX} while it lasts
 */
public record Outage(String deviceUuid, OutageCause cause, Instant from, Instant to) {
    /** Stands for each GPU of the node. */
    public static final String EVERY_GPU = "";

    /** True while it lasts. */
    public boolean lasts() {
        return to.equals(Instant.MAX);
    }

    boolean covers(Instant at) {
        return !at.isBefore(from) && at.isBefore(to);
    }

    /** The same outage that ended; an end before its start becomes the start. */
    Outage endedAt(Instant end) {
        return new Outage(deviceUuid, cause, from, end.isBefore(from) ? from : end);
    }
}
