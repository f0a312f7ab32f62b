package io.gpufleet.health.model.policy;

import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RepairHistory;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Recommended actions for a fault that comes back: each step so often, then the next one. The last step is asked for until a
 * person clears the device, or it passes a validation.
 *
 * @param steps each more severe than the one before
 * @param within attempts longer ago do not count
 */
public record Escalation(List<Step> steps, Duration within) {
    private static final int MAX_ATTEMPTS = 100;
    private static final Duration LONGEST = Duration.ofDays(366);

    /** Two resets, two reboots, a power cycle, then a replacement; in a week. */
    public static final Escalation DEFAULT = new Escalation(
            List.of(
                    new Step(RecommendedAction.RESET_GPU, 2),
                    new Step(RecommendedAction.REBOOT, 2),
                    new Step(RecommendedAction.POWER_CYCLE, 1),
                    new Step(RecommendedAction.REPLACE, 1)),
            Duration.ofDays(7));

    /** One step and how often it is asked for. */
    public record Step(RecommendedAction action, int attempts) {}

    /** Rejects steps that come back to an earlier one, and numbers and times that nothing reaches. */
    public Escalation {
        steps = List.copyOf(steps);
        for (int i = 1; i < steps.size(); i++) {
            if (steps.get(i).action().compareTo(steps.get(i - 1).action()) <= 0) {
                throw new IllegalArgumentException(
                        "escalation takes steps of which each is more severe than the one before; "
                                + steps.get(i).action().slug() + " is not");
            }
        }
        if (steps.isEmpty() || steps.stream().anyMatch(step -> step.attempts() < 1 || step.attempts() > MAX_ATTEMPTS)) {
            throw new IllegalArgumentException("escalation takes steps with 1 to " + MAX_ATTEMPTS + " attempts each");
        }
        if (within.isNegative() || within.isZero() || within.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("escalation takes a positive within up to P366D, not " + within);
        }
    }

    /** Recommended action for a fault that began then, in place of that of its rule. */
    public RecommendedAction next(RecommendedAction ofRule, RepairHistory history, Instant since) {
        RecommendedAction next = ofRule;
        for (Step step : steps) {
            if (step.action() == next && !isLast(step) && history.made(next, within, since) >= step.attempts()) {
                next = steps.get(steps.indexOf(step) + 1).action();
            }
        }
        return next;
    }

    /** How often it may be tried; once when it is no step. */
    public int attempts(RecommendedAction action) {
        return steps.stream()
                .filter(step -> step.action() == action)
                .mapToInt(Step::attempts)
                .findFirst()
                .orElse(1);
    }

    /** True for the step that no boot ends, but a person or a passed validation. */
    public boolean isTerminal(RecommendedAction action) {
        return action == steps.getLast().action();
    }

    /**
     * History of a device that passed a validation: without former validations; and without any attempt once the last step was
     * due. Before that the attempts go on to count, as otherwise each reset would be the first one.
     */
    public RepairHistory validated(RepairHistory history, Instant at) {
        int beforeLast = Math.max(0, steps.size() - 2);
        boolean lastWasDue = steps.subList(beforeLast, steps.size()).stream()
                .anyMatch(step -> history.made(step.action(), within, at) >= step.attempts());
        return lastWasDue ? history.withoutAttempts() : history.without(RecommendedAction.VALIDATE);
    }

    private boolean isLast(Step step) {
        return step.equals(steps.getLast());
    }
}
