package io.gpufleet.health.model.nodepatch;

import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import java.util.ArrayList;
import java.util.List;

/** Plan that follows from the difference between the desired and the observed Node. */
public sealed interface NodePatchPlan {
    /** Nothing to patch. */
    record UpToDate() implements NodePatchPlan {}

    /** An operator opted the node out. */
    record OptedOut() implements NodePatchPlan {}

    /** The verdict was reached for another Node object of that name; one for this object follows. */
    record UidMismatch(String uid) implements NodePatchPlan {}

    /** Another writer applied a newer revision: this one stops. */
    record NewerRevision(long found) implements NodePatchPlan {}

    /** A field that our annotation lists is missing; possibly a manual override. */
    record AppliedMissing(String target, long revision) implements NodePatchPlan {
        /** Our taint. */
        public static final String TAINT = "taint";
        /** That the Node is unschedulable. */
        public static final String CORDON = "cordon";

        /** True while it is missing on this Node. */
        public boolean missingOn(ObservedNode node) {
            return target.equals(CORDON) ? node.cordonMissing() : node.taintMissing();
        }

        /** True when a controller removed it; of a cordon that is removed Kubernetes does not tell who removed it. */
        public boolean removedByController(ObservedNode node) {
            return target.equals(TAINT) && node.base().taintRemovedByController();
        }
    }

    /**
     * Patch the Node.
     *
     * @param taints complete list, foreign taints unchanged
     * @param unschedulable as observed when a person made it so
     * @param label empty to have none; as observed when it is foreign
     * @param recommendedAction empty to have none; as observed when it is foreign
     * @param applied {@link AppliedAnnotation#NONE} where there is none and nothing to list
     * @param nodeDiffers false when only the condition differs
     * @param conditionDiffers false when the condition is as desired
     * @param foreign foreign fields in place of ours, left alone
     */
    record Patch(
            List<Taint> taints,
            boolean unschedulable,
            String label,
            String recommendedAction,
            AppliedAnnotation applied,
            boolean nodeDiffers,
            boolean conditionDiffers,
            List<String> foreign)
            implements NodePatchPlan {
        /** Copies the lists. */
        public Patch {
            taints = List.copyOf(taints);
            foreign = List.copyOf(foreign);
        }
    }

    /**
     * The plan for an observed Node; the first row that applies decides.
     *
     * <pre>
     * observed                                          plan
     * label gpufleet.io/managed=false                   OptedOut
     * applied revision above the desired one            NewerRevision
     * UID differs and something is desired              UidMismatch
     * applied taint or cordon missing and desired       AppliedMissing, unless a cause is newer than the applied revision
     * own fields or condition differ                    Patch
     * otherwise                                         UpToDate
     * </pre>
     */
    static NodePatchPlan of(ObservedNode observed, DesiredNode desired) {
        AppliedAnnotation applied = observed.applied();
        if (!observed.facts().managed()) {
            return new OptedOut();
        }
        if (applied.revision() > desired.revision()) {
            return new NewerRevision(applied.revision());
        }
        if (!desired.isEmpty()
                && !desired.nodeUid().isEmpty()
                && !desired.nodeUid().equals(observed.uid())) {
            return new UidMismatch(observed.uid());
        }
        boolean taintMissing = observed.taintMissing() && !desired.taint().isEmpty();
        boolean cordonMissing = observed.cordonMissing() && desired.cordon();
        boolean newerCause = applied.revision() < desired.revisions().cause();
        if ((taintMissing || cordonMissing) && !newerCause) {
            return new AppliedMissing(taintMissing ? AppliedMissing.TAINT : AppliedMissing.CORDON, applied.revision());
        }
        return patch(observed, desired);
    }

    /** The patch that applies again what is missing. */
    static NodePatchPlan repair(ObservedNode observed, DesiredNode desired) {
        return patch(observed, desired);
    }

    /**
     * The fields that are ours: those that our annotation lists, while they are absent or have the listed value. Without our
     * annotation, or with one that cannot be read, a taint and a cordon is ours that we wrote last, and a field that is as
     * desired.
     */
    private static AppliedAnnotation own(ObservedNode observed, DesiredNode desired) {
        AppliedAnnotation listed = observed.applied();
        String taint = observed.unhealthyTaint().map(Taint::value).orElse("");
        if (!listed.equals(AppliedAnnotation.NONE)) {
            boolean ours = observed.unhealthyTaint().isEmpty() || taint.equals(listed.taint());
            return new AppliedAnnotation(
                    listed.revision(),
                    ours ? listed.taint() : "",
                    unlessChanged(listed.label(), observed.label()),
                    unlessChanged(listed.recommendedAction(), observed.recommendedAction()),
                    listed.why(),
                    listed.cordon());
        }
        boolean ours = observed.base().taintsWrittenByUs() || taint.equals(desired.taint());
        return new AppliedAnnotation(
                0,
                ours ? taint : "",
                observed.label().equals(desired.label()) ? observed.label() : "",
                observed.recommendedAction().equals(desired.recommendedAction()) ? observed.recommendedAction() : "",
                "",
                observed.facts().unschedulable() && observed.base().cordonedByUs());
    }

    /** The listed value; empty where another one was found. */
    private static String unlessChanged(String listed, String found) {
        return found.isEmpty() || found.equals(listed) ? listed : "";
    }

    private static NodePatchPlan patch(ObservedNode observed, DesiredNode desired) {
        AppliedAnnotation applied = own(observed, desired);
        var foreign = new ArrayList<String>();
        String taint = ownValue(
                observed.unhealthyTaint().isPresent(),
                applied.taint(),
                desired.taint(),
                "taint " + Taint.KEY + ":" + Taint.EFFECT,
                foreign);
        String label = ownValue(
                !observed.label().isEmpty(), applied.label(), desired.label(), "label gpufleet.io/health", foreign);
        String action = ownValue(
                !observed.recommendedAction().isEmpty(),
                applied.recommendedAction(),
                desired.recommendedAction(),
                "annotation gpufleet.io/recommended-action",
                foreign);
        // A person who cordons again what was uncordoned, or was before us, keeps it so.
        boolean foreignCordon = observed.facts().unschedulable()
                && (!applied.cordon() || observed.base().cordonedByAnother());
        boolean cordon = desired.cordon() && !foreignCordon;
        if (desired.cordon() && foreignCordon) {
            foreign.add("spec.unschedulable");
        }
        boolean unschedulable = foreignCordon || cordon;
        var listed = new AppliedAnnotation(desired.revision(), taint, label, action, desired.why(), cordon);
        // For ever, once there is one: its revision keeps an older leader from applying again what was removed.
        boolean neverApplied = listed.nothingApplied() && applied.equals(AppliedAnnotation.NONE);
        AppliedAnnotation nextApplied = neverApplied ? AppliedAnnotation.NONE : listed;
        List<Taint> nextTaints = taints(observed, applied, taint);
        String nextLabel = label.isEmpty() && applied.label().isEmpty() ? observed.label() : label;
        String nextAction =
                action.isEmpty() && applied.recommendedAction().isEmpty() ? observed.recommendedAction() : action;
        boolean nodeDiffers = !nextApplied.equals(observed.applied())
                || !sameSet(nextTaints, observed.taints())
                || unschedulable != observed.facts().unschedulable()
                || !nextLabel.equals(observed.label())
                || !nextAction.equals(observed.recommendedAction());
        boolean conditionDiffers = observed.condition() == null
                ? !desired.condition().status().equals("False")
                : !desired.condition().equals(observed.condition());
        return nodeDiffers || conditionDiffers
                ? new Patch(
                        nextTaints,
                        unschedulable,
                        nextLabel,
                        nextAction,
                        nextApplied,
                        nodeDiffers,
                        conditionDiffers,
                        foreign)
                : new UpToDate();
    }

    /** The value to apply and to list as ours; empty when none is desired, or a foreign one is in its place. */
    private static String ownValue(
            boolean present, String applied, String desired, String field, List<String> foreign) {
        if (!desired.isEmpty() && applied.isEmpty() && present) {
            foreign.add(field);
            return "";
        }
        return desired;
    }

    /** All taints with ours added, replaced or removed; an own taint of the same value keeps its time. */
    private static List<Taint> taints(ObservedNode observed, AppliedAnnotation applied, String value) {
        boolean own = !applied.taint().isEmpty();
        var taints = new ArrayList<Taint>(observed.taints());
        if (own) {
            taints.removeIf(Taint::isUnhealthyTaint);
        }
        if (!value.isEmpty()) {
            taints.add(observed.unhealthyTaint()
                    .filter(old -> own && old.value().equals(value))
                    .orElseGet(() -> Taint.unhealthy(value)));
        }
        return taints;
    }

    private static boolean sameSet(List<Taint> one, List<Taint> other) {
        return one.size() == other.size() && one.containsAll(other);
    }
}
