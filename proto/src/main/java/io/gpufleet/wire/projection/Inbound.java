package io.gpufleet.wire.projection;

import com.google.protobuf.Message;
import io.gpufleet.wire.Envelope;
import java.time.Duration;
import java.time.Instant;

/**
 * One fresh event of an input: decoded, allowed on its topic, not applied before.
 *
 * @param appendedAt append time of the record
 * @param newMachine true when the epoch decreased and the boot id is new: another machine under this node name
 */
public record Inbound(Envelope envelope, Message payload, Instant appendedAt, boolean newMachine) {
    /** Returns the record key, for most topics the node name. */
    public String key() {
        return envelope.key();
    }

    /**
     * Returns the age at {@code now}: the writer's {@code ageMillis} plus the time since append. Ignores the node's
     * clock.
     */
    public Duration age(Instant now) {
        return Duration.ofMillis(envelope.ageMillis())
                .plus(
                        Duration.between(appendedAt, now).isNegative()
                                ? Duration.ZERO
                                : Duration.between(appendedAt, now));
    }

    /** Returns the event id, for use as evidence. */
    public String eventId() {
        return envelope.id().toString();
    }
}
