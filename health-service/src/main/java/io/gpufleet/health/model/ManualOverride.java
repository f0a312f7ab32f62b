package io.gpufleet.health.model;

import java.time.Duration;
import java.time.Instant;

/**
 * A manual override of our taint: an operator removed it, so it stays away for the episode and at most {@link
 * #MAX_DURATION}.
 *
 * @param since append time of the observation; faults that begin later are not covered
 * @param by the user, as far as Kubernetes reports one
 * @param target what was removed, for example {@code taint}
 */
public record ManualOverride(Instant since, String by, String target) {
    /** Longest time an override is in force. */
    public static final Duration MAX_DURATION = Duration.ofHours(24);
}
