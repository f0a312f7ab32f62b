package io.gpufleet.wire;

import java.time.Instant;

/**
 * The CloudEvents attributes of one event.
 *
 * @param id identity; carries topic, epoch and sequence
 * @param source writer
 * @param type event type
 * @param subject device UUID; empty when the event is not about one device
 * @param key Kafka key
 * @param eventTime times of the event and of its sending
 * @param traceparent W3C trace context, or empty
 */
public record Envelope(
        EventId id,
        EventSource source,
        EventType type,
        String subject,
        String key,
        EventTime eventTime,
        String traceparent) {
    /** Returns the time of the event, by the writer's clock. */
    public Instant time() {
        return eventTime.occurred();
    }

    /** Returns the time of sending, by the writer's clock. */
    public Instant recordedTime() {
        return eventTime.recorded();
    }

    /** Returns the milliseconds from observation to sending, by the writer's monotonic clock. */
    public long ageMillis() {
        return eventTime.ageMillis();
    }
}
