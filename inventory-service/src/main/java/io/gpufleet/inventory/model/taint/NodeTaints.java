package io.gpufleet.inventory.model.taint;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The taints of a Node, and which of them gpufleet has added.
 *
 * @param present all taints, in the order of {@code spec.taints}
 * @param applied value of the annotation {@link #APPLIED}, empty for none
 * @param annotated whether the Node has any annotation
 */
public record NodeTaints(List<NodeTaint> present, String applied, boolean annotated) {
    /** Annotation with the taints that this service added, separated by commas; no other taint is ever removed. */
    public static final String APPLIED = "gpufleet.io/applied-node-taints";

    /** Neither taints nor annotations. */
    public static final NodeTaints NONE = new NodeTaints(List.of(), "", false);

    /** Copies the list. */
    public NodeTaints {
        present = List.copyOf(present);
    }

    /**
     * The changes after which gpufleet owns the desired taints. A desired taint that somebody else has set is not adopted,
     * and one that somebody else has set with another value is left as it is.
     */
    public TaintPlan plan(Set<NodeTaint> desired) {
        Set<NodeTaint> owned = owned();
        List<NodeTaint> removed = present.stream()
                .filter(taint -> owned.contains(taint) && !desired.contains(taint))
                .toList();
        List<NodeTaint> kept =
                present.stream().filter(taint -> !removed.contains(taint)).toList();
        List<NodeTaint> added = desired.stream()
                .filter(taint -> kept.stream().noneMatch(taint::sameIdentity))
                .toList();
        String ownedAfter = Stream.concat(kept.stream().filter(owned::contains), added.stream())
                .map(NodeTaint::toString)
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .collect(Collectors.joining(","));
        return new TaintPlan(removed, added, ownedAfter);
    }

    /** Whether nothing of a plan remains to be done. */
    public boolean satisfies(TaintPlan plan) {
        return plan.removed().isEmpty()
                && plan.added().isEmpty()
                && plan.applied().equals(applied);
    }

    private Set<NodeTaint> owned() {
        return Arrays.stream(applied.split(",", -1))
                .flatMap(text -> NodeTaint.parse(text).stream())
                .collect(Collectors.toSet());
    }
}
