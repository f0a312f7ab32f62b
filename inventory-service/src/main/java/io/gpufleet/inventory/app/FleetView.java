package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.FleetSummary;
import io.gpufleet.inventory.model.query.IndexedFleet;
import java.util.Collection;
import java.util.List;

/** The committed fleet of this replica, on the leader and on a standby; written by one thread, read by any. */
public final class FleetView {
    private final FleetCounts counts = new FleetCounts();
    private volatile IndexedFleet indexed = IndexedFleet.EMPTY;
    private volatile List<String> suspected = List.of();

    /** The committed fleet. */
    public Fleet fleet() {
        return indexed.fleet();
    }

    /** The committed fleet with its index. */
    public IndexedFleet indexed() {
        return indexed;
    }

    /** Counts of the committed fleet, of which the leader knows the suspected nodes. */
    public FleetSummary summary() {
        return counts.summary().suspecting(suspected.size());
    }

    /** Silent nodes not declared lost because the fault may be one of the bus; none on a standby. */
    public List<String> suspected() {
        return suspected;
    }

    /** Removes all nodes, before the changelog is read. */
    public void clear() {
        indexed = IndexedFleet.EMPTY;
        counts.clear();
        suspected = List.of();
    }

    /** Shows committed nodes, and removes those that were given up. */
    public void commit(Collection<NodeState> changed, Collection<String> removed) {
        if (indexed.fleet().nodes().size() == 0) {
            IndexedFleet first = IndexedFleet.of(changed);
            counts.count(first.fleet());
            indexed = first;
            return;
        }
        IndexedFleet next = indexed;
        for (String node : removed) {
            next = counted(node, next, next.without(node));
        }
        for (NodeState node : changed) {
            next = counted(node.name(), next, next.with(node));
        }
        indexed = next;
    }

    private IndexedFleet counted(String node, IndexedFleet before, IndexedFleet after) {
        counts.changed(node, before.fleet(), after.fleet());
        return after;
    }

    /** Shows these nodes as suspected. */
    public void suspect(List<String> nodes) {
        suspected = List.copyOf(nodes);
    }
}
