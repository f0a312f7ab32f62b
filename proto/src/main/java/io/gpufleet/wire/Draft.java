package io.gpufleet.wire;

import com.google.protobuf.Message;
import java.time.Instant;

/** An event that has no identity yet; a {@link Stamp} gives it one. */
public interface Draft {
    /** Topic on which it will stand. */
    Topic topic();

    /** What it is. */
    EventType type();

    /** Kafka key. */
    String key();

    /** The message of its type. */
    Message payload();

    /** Device UUID, or empty. */
    String subject();

    /** When it happened. */
    Instant time();

    /** W3C trace context of its cause, or empty. */
    String traceparent();
}
