package io.gpufleet.health.model.remediation;

import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import java.time.Duration;
import java.util.Set;

/**
 * Which recommended actions executors are asked for.
 *
 * @param actions of {@link #EXECUTABLE}; none by default
 * @param deadline from the request, after which an effect that was not seen is a failed attempt
 * @param nodes so many nodes are worked on at once
 * @param windows in which a boot or a replacement may be asked for
 */
public record RemediationSettings(
        Set<RecommendedAction> actions, Duration deadline, int nodes, MaintenanceWindows windows) {
    private static final Duration SHORTEST = Duration.ofMinutes(1);
    private static final Duration LONGEST = Duration.ofDays(30);

    /** Actions that an executor can carry out. */
    public static final Set<RecommendedAction> EXECUTABLE = Set.of(
            RecommendedAction.RESET_GPU,
            RecommendedAction.REBOOT,
            RecommendedAction.POWER_CYCLE,
            RecommendedAction.REPLACE,
            RecommendedAction.VALIDATE);

    /** Nobody is asked for anything. */
    public static final RemediationSettings DEFAULT =
            new RemediationSettings(Set.of(), Duration.ofMinutes(30), 1, MaintenanceWindows.ANY_TIME);

    /** True when a GPU whose fault ended stays out of service until an executor has proven that it works. */
    public boolean validates() {
        return actions.contains(RecommendedAction.VALIDATE);
    }

    /** Rejects what cannot work. */
    public RemediationSettings {
        actions = Set.copyOf(actions);
        if (!EXECUTABLE.containsAll(actions)) {
            throw new IllegalArgumentException(
                    "remediation takes actions of reset-gpu, reboot, power-cycle, replace and validate");
        }
        if (deadline.compareTo(SHORTEST) < 0 || deadline.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("remediation takes a deadline from PT1M to P30D, not " + deadline);
        }
        if (nodes < 1) {
            throw new IllegalArgumentException("remediation takes nodes from 1, not " + nodes);
        }
    }
}
