package io.gpufleet.wire.projection;

import com.google.protobuf.Message;
import io.gpufleet.wire.EventDraft;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;

/** One output of a projection, written in the transaction of the batch that caused it. */
public sealed interface Outbound {
    /** Returns the topic to write to. */
    Topic topic();

    /** Returns the record key. */
    String key();

    /**
     * An event. In a changelog payload the field {@code applied} is empty; the engine sets it.
     *
     * @param subject device UUID, or empty
     * @param time time of the event
     * @param traceparent trace context of the event that caused it, or empty
     */
    record Event(
            Topic topic, EventType type, String key, Message payload, String subject, Instant time, String traceparent)
            implements Outbound, EventDraft {
        /** Creates an event without subject and trace context. */
        public static Event of(Topic topic, EventType type, String key, Message payload, Instant time) {
            return new Event(topic, type, key, payload, "", time, "");
        }

        /** Returns a copy with another payload of the same type. */
        Event withPayload(Message other) {
            return new Event(topic, type, key, other, subject, time, traceparent);
        }

        /** Returns a copy with a device as subject. */
        public Event withSubject(String deviceUuid) {
            return new Event(topic, type, key, payload, deviceUuid, time, traceparent);
        }

        /** Returns a copy with the trace context of its cause. */
        public Event causedBy(Inbound cause) {
            return new Event(
                    topic, type, key, payload, subject, time, cause.envelope().traceparent());
        }
    }

    /**
     * Deletion of a key of a compacted topic; on the own changelog it also deletes the applied sequences of the key.
     */
    record Tombstone(Topic topic, String key) implements Outbound {}
}
