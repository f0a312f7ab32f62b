package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;

/**
 * The fleet of one moment with the index of its nodes; immutable.
 *
 * @param fleet every node
 * @param index of the announced nodes
 */
public record IndexedFleet(Fleet fleet, NodeIndex index) {
    /** No nodes. */
    public static final IndexedFleet EMPTY = new IndexedFleet(Fleet.EMPTY, NodeIndex.EMPTY);

    /** The fleet with this state of a node. */
    public IndexedFleet with(NodeState node) {
        return new IndexedFleet(fleet.with(node), index.changed(fleet.nodeOrUnknown(node.name()), node));
    }

    /** The fleet without a node. */
    public IndexedFleet without(String name) {
        return new IndexedFleet(fleet.without(name), index.changed(fleet.nodeOrUnknown(name), NodeState.unknown(name)));
    }
}
