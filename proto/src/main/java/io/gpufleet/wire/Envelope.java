package io.gpufleet.wire;

import java.time.Instant;

/**
 * The CloudEvents attributes of one event.
 *
 * @param id identity; carries topic, epoch and sequence
 * @param source who wrote it
 * @param type what it is
 * @param subject device UUID, or empty where the event is not about one device
 * @param key Kafka key
 * @param time when it happened, by the writer's clock
 * @param recordedTime when it was sent, by the writer's clock
 * @param ageMillis milliseconds from observation to this sending, by the writer's monotonic clock
 * @param traceparent W3C trace context, or empty
 */
public record Envelope(
        EventId id,
        Source source,
        EventType type,
        String subject,
        String key,
        Instant time,
        Instant recordedTime,
        long ageMillis,
        String traceparent) {}
