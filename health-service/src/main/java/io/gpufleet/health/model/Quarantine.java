package io.gpufleet.health.model;

import java.time.Instant;

/**
 * An operator's quarantine of a node.
 *
 * @param since append time of the command
 * @param note user and reason, one line for people
 * @param eventId id of the command's event
 */
public record Quarantine(Instant since, String note, String eventId) {}
