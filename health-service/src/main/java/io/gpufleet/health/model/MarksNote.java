package io.gpufleet.health.model;

/**
 * The annotation {@code gpufleet.io/marks}: which marks of a Node are ours, and why. What it does not list is not ours.
 *
 * @param revision of the verdict that asked for them
 * @param taint value of our taint; empty when we set none
 * @param label value of our label; empty when we set none
 * @param nextStep value of our annotation; empty when we set none
 * @param why one line for people
 */
public record MarksNote(long revision, String taint, String label, String nextStep, String why) {
    /** Lists nothing: so there is no annotation. */
    public static final MarksNote NONE = new MarksNote(0, "", "", "", "");

    /** True when it lists nothing. */
    public boolean listsNothing() {
        return taint.isEmpty() && label.isEmpty() && nextStep.isEmpty();
    }
}
