package io.gpufleet.health.model.fault;

import java.util.Arrays;
import java.util.Locale;

/** Action for an operator or an executor, least severe first; gpufleet performs none of them. */
public enum RecommendedAction {
    /** Nothing. */
    NONE,
    /** Prove that the GPU works, before it is in service again; executors are asked for it, no rule recommends it. */
    VALIDATE,
    /** Restart the application. */
    RESTART_APP,
    /** Reset the GPU. */
    RESET_GPU,
    /** Reboot the node. */
    REBOOT,
    /** Take the power from the node. */
    POWER_CYCLE,
    /** Contact the vendor's support. */
    SUPPORT,
    /** Replace the GPU. */
    REPLACE;

    private static final RecommendedAction[] OF_RULES =
            Arrays.stream(values()).filter(action -> action != VALIDATE).toArray(RecommendedAction[]::new);

    /** Actions that a rule or a step of the escalation may recommend. */
    public static RecommendedAction[] ofRules() {
        return OF_RULES.clone();
    }

    /** Spelling in policy files, JSON and the annotation, for example {@code reset-gpu}. */
    public String slug() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** True when a new boot of the node is its effect. */
    public boolean boots() {
        return this == REBOOT || this == POWER_CYCLE;
    }

    /** The more severe of the two. */
    public RecommendedAction orMoreSevere(RecommendedAction other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
