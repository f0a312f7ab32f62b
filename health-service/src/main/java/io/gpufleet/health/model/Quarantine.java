package io.gpufleet.health.model;

import java.time.Instant;

/**
 * A node taken out by hand.
 *
 * @param since when it was said, by the log's append time
 * @param note who and why, one line for people
 */
public record Quarantine(Instant since, String note) {}
