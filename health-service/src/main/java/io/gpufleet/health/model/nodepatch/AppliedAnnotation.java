package io.gpufleet.health.model.nodepatch;

/**
 * Annotation {@code gpufleet.io/applied}: the fields of the Node that we applied, and why. A field that it does not list
 * is foreign. It stays when nothing is applied any more, so that no older revision is applied after it. Its JSON keys are the names of these components, so that no method may be named like a property.
 *
 * @param revision revision of the verdict that was applied
 * @param taint value of our taint; empty when we applied none
 * @param label value of our label; empty when we applied none
 * @param recommendedAction value of our annotation; empty when we applied none
 * @param why one line for people
 * @param cordon true when we made the Node unschedulable
 */
public record AppliedAnnotation(
        long revision, String taint, String label, String recommendedAction, String why, boolean cordon) {
    /** Lists nothing: the annotation is absent. */
    public static final AppliedAnnotation NONE = new AppliedAnnotation(0, "", "", "", "");

    /** Of a Node that we did not cordon. */
    public AppliedAnnotation(long revision, String taint, String label, String recommendedAction, String why) {
        this(revision, taint, label, recommendedAction, why, false);
    }

    /** True when it lists no field. */
    public boolean nothingApplied() {
        return taint.isEmpty() && label.isEmpty() && recommendedAction.isEmpty() && !cordon;
    }
}
