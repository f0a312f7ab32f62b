package io.gpufleet.health.model;

import java.util.Locale;

/** What is due, the lightest first; gpufleet takes none of them by itself. */
public enum NextStep {
    /** Nothing. */
    NONE,
    /** Restart the application. */
    RESTART_APP,
    /** Reset the GPU. */
    RESET_GPU,
    /** Reboot the node. */
    REBOOT,
    /** Call the vendor. */
    SUPPORT;

    /** As policy files and the annotation spell it, for example {@code reset-gpu}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The heavier of the two. */
    public NextStep orHeavier(NextStep other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
