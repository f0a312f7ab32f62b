package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Presence;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Numbers of announced nodes by presence and of their GPUs by health, kept up with each commit: counting 100,000 nodes anew
 * takes a good part of a second. Written by one thread, read by any.
 */
public final class FleetCounts {
    private final Map<String, Integer> nodes = new ConcurrentHashMap<>();
    private final Map<String, Integer> devices = new ConcurrentHashMap<>();

    /** Announced nodes by presence. */
    public Map<String, Integer> nodesByPresence() {
        return new TreeMap<>(nodes);
    }

    /** GPUs of announced nodes by health. */
    public Map<String, Integer> devicesByHealth() {
        return new TreeMap<>(devices);
    }

    void clear() {
        nodes.clear();
        devices.clear();
    }

    /** A node changed; both states are empty where there is none. */
    void changed(NodeState before, NodeState after) {
        if (before.announcement() != after.announcement()
                || before.presence() != after.presence()
                || before.verdicts() != after.verdicts()) {
            add(before, -1);
            add(after, 1);
        }
    }

    private void add(NodeState node, int number) {
        if (node.announcement() == null) {
            return;
        }
        Presence presence = node.presence();
        add(nodes, presence == null ? "unknown" : presence.stateName(), number);
        for (Gpu gpu : node.gpus()) {
            add(devices, node.healthOf(gpu), number);
        }
    }

    private static void add(Map<String, Integer> counts, String name, int number) {
        // A count of zero is removed, as a value that no node has is not shown.
        counts.merge(name, number, (one, other) -> one + other == 0 ? null : Integer.valueOf(one + other));
    }
}
