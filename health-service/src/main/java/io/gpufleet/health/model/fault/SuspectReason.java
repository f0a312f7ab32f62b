package io.gpufleet.health.model.fault;

/**
 * Why an open fault is suspect only for now.
 *
 * @param grace true while its grace, or that of the boot, lasts
 * @param threshold true while it was not observed often enough
 */
public record SuspectReason(boolean grace, boolean threshold) {
    /** Nothing holds it off. */
    public static final SuspectReason NONE = new SuspectReason(false, false);

    /** True while something holds it off. */
    public boolean any() {
        return grace || threshold;
    }
}
