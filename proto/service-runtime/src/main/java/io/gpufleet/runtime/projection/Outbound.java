package io.gpufleet.runtime.projection;

import com.google.protobuf.Message;
import io.gpufleet.wire.EventDraft;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;

/** A record that a projection publishes, in the transaction of the batch that caused it. */
public sealed interface Outbound {
    /** Topic to write to. */
    Topic topic();

    /** Key to write under. */
    String key();

    /**
     * An event.
     *
     * @param subject device UUID, or empty
     * @param time when it happened
     * @param traceparent trace of the fact that caused it, or empty
     */
    record Event(
            Topic topic, EventType type, String key, Message payload, String subject, Instant time, String traceparent)
            implements Outbound, EventDraft {
        /** An event about no single device and without a trace. */
        public static Event of(Topic topic, EventType type, String key, Message payload, Instant time) {
            return new Event(topic, type, key, payload, "", time, "");
        }

        /** The same event, about a device. */
        public Event about(String deviceUuid) {
            return new Event(topic, type, key, payload, deviceUuid, time, traceparent);
        }

        /** The same event, carrying the trace of its cause. */
        public Event causedBy(Inbound cause) {
            return new Event(topic, type, key, payload, subject, time, cause.traceparent());
        }
    }

    /** The key of a compacted output is given up. */
    record Tombstone(Topic topic, String key) implements Outbound {}
}
