package io.gpufleet.health.model.budget;

import java.util.Map;

/**
 * Share of one node in the budgets.
 *
 * @param labels that decide about pool and zone
 * @param counted 1 for a node with a Node object, else 0
 * @param out 1 when it cannot be used: tainted, not ready, unschedulable, or not heard
 * @param devices announced devices of a counted node
 * @param devicesOut those of them that cannot be used
 */
public record NodeBudgetShare(Map<String, String> labels, int counted, int out, int devices, int devicesOut) {
    /** Of a node that is not known. */
    public static final NodeBudgetShare NONE = new NodeBudgetShare(Map.of(), 0, 0, 0, 0);

    /** Copies the labels. */
    public NodeBudgetShare {
        labels = Map.copyOf(labels);
    }
}
