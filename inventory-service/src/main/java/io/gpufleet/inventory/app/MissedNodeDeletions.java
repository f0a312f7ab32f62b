package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeDelta;
import io.gpufleet.inventory.model.NodeState;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Publishes the deletion of Node objects that no watch has reported: they were deleted while no replica watched, or before
 * their node departed or was lost. Compares the fleet with the Node objects whenever either is known anew.
 */
final class MissedNodeDeletions {
    private final Supplier<Fleet> fleet;
    private final SignalSink signals;
    private final Predicate<String> missing;

    /** {@code missing} is true for a name of which it is certain that no Node object has it. */
    MissedNodeDeletions(Supplier<Fleet> fleet, SignalSink signals, Predicate<String> missing) {
        this.fleet = fleet;
        this.signals = signals;
        this.missing = missing;
    }

    /** Compares every node. */
    void checkAll() {
        fleet.get().nodes().values().forEach(this::check);
    }

    /** Compares one node. */
    void check(String node) {
        fleet.get().node(node).ifPresent(this::check);
    }

    private void check(NodeState node) {
        String uid = node.object().uid();
        boolean changes = node.apply(new NodeDelta.NodeObjectDeleted(uid)) != node;
        if (changes && missing.test(node.name())) {
            signals.nodeDeleted(node.name(), uid);
        }
    }
}
