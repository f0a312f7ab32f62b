package io.gpufleet.health.model;

import java.time.Instant;

/**
 * One fault from its first sign to its proven end.
 *
 * @param code what is wrong
 * @param action what the driver asks for, as last heard
 * @param since when it was first heard of, by the log's append time
 * @param observations how often it was seen so far
 * @param bootId boot in which it was seen
 * @param eventId the event that opened it
 * @param acts false while only news too old to act on tell of it; it is recorded, and no more
 */
public record Episode(
        FaultCode code,
        RecoveryAction action,
        Instant since,
        long observations,
        String bootId,
        String eventId,
        boolean acts) {}
