package io.gpufleet.health.model;

import io.gpufleet.health.model.budget.NodeBudgetShare;
import io.gpufleet.health.model.device.Device;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** Computes the share of a node in the budgets. */
public final class NodeBudgetShareCalculator {
    private NodeBudgetShareCalculator() {}

    /** Share of each of these nodes that has a Node object, by its name. */
    public static Map<String, NodeBudgetShare> of(Collection<NodeState> states) {
        var usages = new HashMap<String, NodeBudgetShare>();
        for (NodeState state : states) {
            NodeBudgetShare usage = of(state);
            if (usage.counted() > 0) {
                usages.put(state.node().name(), usage);
            }
        }
        return usages;
    }

    /**
     * Share of a state in the budgets. A node whose Node object was deleted has none; one whose Node object was never
     * observed is in no denominator, and what is out of it counts. A node that is not heard is out; its devices are as it
     * told them.
     */
    public static NodeBudgetShare of(NodeState state) {
        if (state.node().goneSince() != null && !state.node().uid().isEmpty()) {
            return NodeBudgetShare.NONE;
        }
        // A plain loop: this runs twice for every event.
        int devices = 0;
        int out = 0;
        boolean driverAway = state.driverAway();
        for (Device device : state.devices().values()) {
            if (device.listed()) {
                devices++;
                boolean offered = device.locallyHealthy() && !driverAway;
                out += state.withdrawn(device) || device.lost() || !offered ? 1 : 0;
            }
        }
        if (state.node().uid().isEmpty()) {
            return new NodeBudgetShare(state.node().placement().labels(), 0, state.tainted() ? 1 : 0, 0, out);
        }
        boolean usable =
                state.node().placement().usable() && !state.node().presence().unheard() && !state.tainted();
        return new NodeBudgetShare(state.node().placement().labels(), 1, usable ? 0 : 1, devices, out);
    }
}
