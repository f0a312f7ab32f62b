package io.gpufleet.runtime.projection;

import com.google.protobuf.Message;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;

/** One record of an input, checked and not applied before. */
public sealed interface Inbound {
    /** The node, or whatever the topic's key is. */
    String key();

    /** The broker's append time. */
    Instant appendedAt();

    /** Trace of this input for what it causes; empty where there is none. */
    default String traceparent() {
        return "";
    }

    /**
     * An event.
     *
     * @param newMachine true when the incarnation went back and the boot id was never seen: another machine under this
     *     name
     */
    record Event(Envelope envelope, Message payload, Instant appendedAt, boolean newMachine) implements Inbound {
        @Override
        public String key() {
            return envelope.key();
        }

        @Override
        public String traceparent() {
            return envelope.traceparent();
        }

        /** How long ago it happened: the writer's own count and the time since it was appended, never negative. */
        public Duration age(Instant now) {
            Duration onTheLog = Duration.between(appendedAt, now);
            return Duration.ofMillis(envelope.ageMillis()).plus(onTheLog.isNegative() ? Duration.ZERO : onTheLog);
        }

        /** The event id, as evidence. */
        public String eventId() {
            return envelope.id().toString();
        }
    }

    /** A key of a compacted input was given up. */
    record Tombstone(Topic topic, String key, Instant appendedAt) implements Inbound {}

    /** A record of a heartbeat topic was appended. */
    record Heartbeat(Topic topic, String key, Instant appendedAt) implements Inbound {}
}
