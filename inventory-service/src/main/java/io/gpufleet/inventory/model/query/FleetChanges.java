package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import java.util.ArrayList;
import java.util.List;

/**
 * Difference of two images of a fleet, among announced nodes.
 *
 * @param changed nodes that are new or have another state, as they are now, by name
 * @param removed names of nodes that are gone
 */
public record FleetChanges(List<NodeState> changed, List<String> removed) {
    /** Copies the lists. */
    public FleetChanges {
        changed = List.copyOf(changed);
        removed = List.copyOf(removed);
    }

    /** The difference between an image and a later one. */
    public static FleetChanges between(Fleet before, Fleet after) {
        var changed = new ArrayList<NodeState>();
        var removed = new ArrayList<String>();
        if (before.nodes() != after.nodes()) {
            after.nodes().forEachAfter("", (name, node) -> {
                // A commit replaces the state of a node that changes, and keeps all others.
                if (node.announcement() != null && before.node(name).orElse(null) != node) {
                    changed.add(node);
                }
                return true;
            });
            before.nodes().forEachAfter("", (name, node) -> {
                if (node.announcement() != null && after.node(name).isEmpty()) {
                    removed.add(name);
                }
                return true;
            });
        }
        return new FleetChanges(changed, removed);
    }

    /** Number of nodes that changed in some way. */
    public int size() {
        return changed.size() + removed.size();
    }
}
