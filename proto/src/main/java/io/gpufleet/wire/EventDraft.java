package io.gpufleet.wire;

import com.google.protobuf.Message;
import java.time.Instant;

/** An event without identity; an {@link EventSequencer} assigns it. */
public interface EventDraft {
    /** Returns the topic to write to. */
    Topic topic();

    /** Returns the event type. */
    EventType type();

    /** Returns the Kafka key. */
    String key();

    /** Returns the payload, a message of the event type. */
    Message payload();

    /** Returns the device UUID, or empty. */
    String subject();

    /** Returns the time of the event. */
    Instant time();

    /** Returns the W3C trace context of its cause, or empty. */
    String traceparent();
}
