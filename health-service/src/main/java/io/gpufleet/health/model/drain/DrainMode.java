package io.gpufleet.health.model.drain;

import java.util.Locale;

/** Which pods a rule asks to leave, fewest first. */
public enum DrainMode {
    /** None. */
    NONE,
    /** Those that hold the device; where the node has to be rebooted, those that hold any GPU of the node. */
    GPU_PODS,
    /** Every pod of the node. */
    ALL;

    /** Spelling in policy files, for example {@code gpu-pods}. */
    public String slug() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The one that concerns more pods. */
    public DrainMode orMore(DrainMode other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
