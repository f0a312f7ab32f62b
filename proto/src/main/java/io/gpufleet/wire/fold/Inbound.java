package io.gpufleet.wire.fold;

import com.google.protobuf.Message;
import io.gpufleet.wire.Envelope;
import java.time.Duration;
import java.time.Instant;

/**
 * One fresh event as a fold meets it: decoded, allowed where it stands, not applied before.
 *
 * @param appendedAt the log's append time
 * @param newMachine true when the epoch went back and the boot id was never seen: another machine under this name
 */
public record Inbound(Envelope envelope, Message payload, Instant appendedAt, boolean newMachine) {
    /** The node, or whatever the topic's key is. */
    public String key() {
        return envelope.key();
    }

    /** How long ago it happened: the writer's own count and the time since it was appended; no node clock is asked. */
    public Duration age(Instant now) {
        return Duration.ofMillis(envelope.ageMillis())
                .plus(
                        Duration.between(appendedAt, now).isNegative()
                                ? Duration.ZERO
                                : Duration.between(appendedAt, now));
    }

    /** The event id, as evidence. */
    public String eventId() {
        return envelope.id().toString();
    }
}
