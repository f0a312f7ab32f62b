package io.gpufleet.health.app;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.HealthState;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The committed states of all nodes, for readers on any thread, on the leader and on a standby. */
public final class NodeStateStore {
    private final Map<String, NodeState> nodes = new ConcurrentHashMap<>();

    /** The states are read anew. */
    public void clear() {
        nodes.clear();
    }

    /** States were committed, and nodes given up. */
    public void committed(Map<String, NodeState> states, Set<String> forgotten) {
        nodes.putAll(states);
        nodes.keySet().removeAll(forgotten);
    }

    /** Newest state of a node. */
    public Optional<NodeState> node(String name) {
        return Optional.ofNullable(nodes.get(name));
    }

    /** Nodes that list or remember the device; several after it moved. */
    public Stream<NodeState> withDevice(String uuid) {
        return nodes.values().stream().filter(state -> state.device(uuid).isPresent());
    }

    /** Number of devices in each state. */
    public Map<HealthState, Integer> devicesByState() {
        Map<HealthState, Integer> counts = new EnumMap<>(HealthState.class);
        for (HealthState state : HealthState.values()) {
            counts.put(state, 0);
        }
        for (NodeState node : nodes.values()) {
            for (Device device : node.devices().values()) {
                counts.merge(device.health().state(), 1, Integer::sum);
            }
        }
        return counts;
    }

    /** All nodes, in no particular order. */
    public Collection<NodeState> nodes() {
        return nodes.values();
    }
}
