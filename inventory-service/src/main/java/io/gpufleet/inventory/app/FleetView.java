package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import java.util.Collection;
import java.util.List;

/** The committed fleet of this replica, on the leader and on a standby; written by one thread, read by any. */
public final class FleetView {
    private final FleetCounts counts = new FleetCounts();
    private volatile Fleet fleet = Fleet.EMPTY;
    private volatile List<String> suspected = List.of();

    /** The committed fleet. */
    public Fleet fleet() {
        return fleet;
    }

    /** Numbers of the committed fleet. */
    public FleetCounts counts() {
        return counts;
    }

    /** Silent nodes not declared lost because a fault of the bus is suspected; none on a standby. */
    public List<String> suspected() {
        return suspected;
    }

    /** Removes all nodes, before the changelog is read. */
    public void clear() {
        fleet = Fleet.EMPTY;
        counts.clear();
        suspected = List.of();
    }

    /** Shows committed nodes, and removes those that were given up. */
    public void commit(Collection<NodeState> changed, Collection<String> removed) {
        Fleet next = fleet;
        for (String node : removed) {
            counts.changed(next.nodeOrUnknown(node), NodeState.unknown(node));
            next = next.without(node);
        }
        for (NodeState node : changed) {
            counts.changed(next.nodeOrUnknown(node.name()), node);
            next = next.with(node);
        }
        fleet = next;
    }

    /** Shows these nodes as suspected. */
    public void suspect(List<String> nodes) {
        suspected = List.copyOf(nodes);
    }
}
