package io.gpufleet.health.model.fault;

import java.util.Locale;

/** Recommended action for an operator, least severe first; gpufleet performs none of them. */
public enum RecommendedAction {
    /** Nothing. */
    NONE,
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
