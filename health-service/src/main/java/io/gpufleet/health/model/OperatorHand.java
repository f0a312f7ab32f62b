package io.gpufleet.health.model;

import java.time.Duration;
import java.time.Instant;

/**
 * An operator's hand against our marks: they took one away, so it stays away for this episode and at most a day.
 *
 * @param since when it was noticed, by the log's append time; faults that begin later are not covered
 * @param by who, as far as Kubernetes tells
 * @param mark what was taken away, for example {@code taint}
 */
public record OperatorHand(Instant since, String by, String mark) {
    /** How long a hand counts at most. */
    public static final Duration LONGEST = Duration.ofHours(24);
}
