package io.gpufleet.inventory.model;

import java.time.Duration;
import java.time.Instant;

/**
 * How long we have listened without a gap. Silence counts only while we listen: a replica that just took over, one that
 * lags behind and one whose thread stood still have missed heartbeats that were sent.
 *
 * @param since since when there was no gap
 * @param polled when we last looked
 * @param complete when we last had read everything that was appended
 */
public record Attention(Instant since, Instant polled, Instant complete) {
    /** Longer without a look, or without having read everything, is a gap. */
    public static final Duration GAP = Duration.ofSeconds(5);

    /** We begin to listen. */
    public static Attention from(Instant now) {
        return new Attention(now, now, now);
    }

    /** We looked; {@code caughtUp} says that nothing was left to read. */
    public Attention look(boolean caughtUp, Instant now) {
        boolean gap = now.isAfter(polled.plus(GAP)) || (!caughtUp && now.isAfter(complete.plus(GAP)));
        return new Attention(gap ? now : since, now, caughtUp ? now : complete);
    }

    /** How long a node has been silent as far as we can tell. */
    public Duration silenceSince(Instant lastHeard) {
        Instant from = lastHeard.isAfter(since) ? lastHeard : since;
        return from.isAfter(complete) ? Duration.ZERO : Duration.between(from, complete);
    }
}
