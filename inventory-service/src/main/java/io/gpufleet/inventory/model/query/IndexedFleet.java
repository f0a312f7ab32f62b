package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import java.util.Collection;

/**
 * The fleet of one moment with the index of its nodes; immutable.
 *
 * @param fleet every node
 * @param index of the announced nodes
 */
public record IndexedFleet(Fleet fleet, NodeIndex index) {
    /** No nodes. */
    public static final IndexedFleet EMPTY = new IndexedFleet(Fleet.EMPTY, NodeIndex.EMPTY);

    /** The fleet of these nodes, of each name one. */
    public static IndexedFleet of(Collection<NodeState> nodes) {
        Fleet fleet = Fleet.of(nodes);
        return new IndexedFleet(fleet, NodeIndex.of(fleet.nodes().values()));
    }

    /** The fleet with this state of a node. */
    public IndexedFleet with(NodeState node) {
        return new IndexedFleet(fleet.with(node), index.changed(fleet.nodeOrUnknown(node.name()), node));
    }

    /** The fleet without a node. */
    public IndexedFleet without(String name) {
        return new IndexedFleet(fleet.without(name), index.changed(fleet.nodeOrUnknown(name), NodeState.unknown(name)));
    }
}
