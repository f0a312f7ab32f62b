package io.gpufleet.health.app;

import io.gpufleet.health.model.NodeState;
import java.util.Collection;
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

    /** All nodes, in no particular order. */
    public Collection<NodeState> nodes() {
        return nodes.values();
    }
}
