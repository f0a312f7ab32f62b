package io.gpufleet.health.model;

import io.gpufleet.health.model.FoundNode.Taint;
import java.util.ArrayList;
import java.util.List;

/** What to do about the difference between the marks wanted and the marks found. */
public sealed interface MarksPlan {
    /** They are as wanted. */
    record Nothing() implements MarksPlan {}

    /** The operator opted the node out. */
    record OptedOut() implements MarksPlan {}

    /** The verdict is about another Node object of that name; one about this object is to come. */
    record OtherNode(String uid) implements MarksPlan {}

    /** Somebody who knows more has written here: whoever finds this, stops. */
    record Outdated(long found) implements MarksPlan {}

    /** A mark that our note lists is gone; maybe an operator's hand. */
    record Missing(String mark, long revision) implements MarksPlan {}

    /**
     * Write these.
     *
     * @param taints the whole list, those of others unchanged
     * @param label empty to have none; as found where it is not ours
     * @param nextStep empty to have none; as found where it is not ours
     * @param note {@link MarksNote#NONE} to have none
     * @param marks false when only the condition differs
     * @param condition false when the condition is as wanted
     * @param foreign marks of others that are in the way of ours and stay
     */
    record Write(
            List<Taint> taints,
            String label,
            String nextStep,
            MarksNote note,
            boolean marks,
            boolean condition,
            List<String> foreign)
            implements MarksPlan {
        /** Copies the lists. */
        public Write {
            taints = List.copyOf(taints);
            foreign = List.copyOf(foreign);
        }
    }

    /** The plan that makes the Node wear what is wanted, touching only what is ours. */
    static MarksPlan of(FoundNode found, WantedMarks wanted) {
        MarksNote note = found.note();
        if (!found.facts().managed()) {
            return new OptedOut();
        }
        if (note.revision() > wanted.revision()) {
            return new Outdated(note.revision());
        }
        if (!wanted.none() && !wanted.nodeUid().isEmpty() && !wanted.nodeUid().equals(found.uid())) {
            return new OtherNode(found.uid());
        }
        boolean taintGone = !note.taint().isEmpty() && found.taintLikeOurs().isEmpty();
        if (taintGone && !wanted.taint().isEmpty()) {
            return new Missing("taint", note.revision());
        }
        return write(found, wanted);
    }

    private static MarksPlan write(FoundNode found, WantedMarks wanted) {
        MarksNote note = found.note();
        var foreign = new ArrayList<String>();
        var taints = new ArrayList<Taint>(found.taints());
        boolean ownTaint = !note.taint().isEmpty();
        String taint = wanted.taint();
        if (ownTaint) {
            taints.removeIf(Taint::isLikeOurs);
        } else if (!taint.isEmpty() && found.taintLikeOurs().isPresent()) {
            foreign.add("taint " + Taint.KEY + ":" + Taint.EFFECT);
            taint = "";
        }
        if (!taint.isEmpty()) {
            String value = taint;
            taints.add(found.taintLikeOurs()
                    .filter(old -> ownTaint && old.value().equals(value))
                    .orElseGet(() -> Taint.ours(value)));
        }
        String label = own(found.label(), note.label(), wanted.label(), "label gpufleet.io/health", foreign);
        String step =
                own(found.nextStep(), note.nextStep(), wanted.nextStep(), "annotation gpufleet.io/next-step", foreign);
        var listed = new MarksNote(
                wanted.revision(), taint, label, step, wanted.condition().message());
        MarksNote next = listed.listsNothing() ? MarksNote.NONE : listed;
        String labelThen = label.isEmpty() && note.label().isEmpty() ? found.label() : label;
        String stepThen = step.isEmpty() && note.nextStep().isEmpty() ? found.nextStep() : step;
        boolean marks = !next.equals(note)
                || !sameSet(taints, found.taints())
                || !labelThen.equals(found.label())
                || !stepThen.equals(found.nextStep());
        boolean condition = found.condition() == null
                ? wanted.condition().status().equals("True")
                : !wanted.condition().equals(found.condition());
        return marks || condition
                ? new Write(taints, labelThen, stepThen, next, marks, condition, foreign)
                : new Nothing();
    }

    /** The value that we set and write down as ours; empty where there is nothing to set, or somebody else's stands. */
    private static String own(String found, String noted, String wanted, String what, List<String> foreign) {
        if (!wanted.isEmpty() && noted.isEmpty() && !found.isEmpty()) {
            foreign.add(what);
            return "";
        }
        return wanted;
    }

    private static boolean sameSet(List<Taint> one, List<Taint> other) {
        return one.size() == other.size() && one.containsAll(other);
    }
}
