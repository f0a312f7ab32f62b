package io.gpufleet.inventory.model.taint;

import java.util.List;

/**
 * Changes to the taints of a Node.
 *
 * @param removed taints of the Node that gpufleet had added and that are no longer desired
 * @param added taints that the Node lacks
 * @param applied value of the annotation {@link NodeTaints#APPLIED} afterwards, empty for none
 */
public record TaintPlan(List<NodeTaint> removed, List<NodeTaint> added, String applied) {
    /** Copies the lists. */
    public TaintPlan {
        removed = List.copyOf(removed);
        added = List.copyOf(added);
    }
}
