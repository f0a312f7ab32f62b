package io.gpufleet.wire;

import java.time.Instant;

/**
 * Times of an event, all by clocks of its writer.
 *
 * @param occurred time of the event, by the wall clock ({@code ce_time})
 * @param recorded time of sending, by the wall clock ({@code ce_recordedtime})
 * @param ageMillis milliseconds from observation to sending, by the monotonic clock ({@code ce_agems})
 */
public record EventTime(Instant occurred, Instant recorded, long ageMillis) {}
