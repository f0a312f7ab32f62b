package io.gpufleet.health.app;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.HealthState;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The committed states of all nodes, for readers on any thread, on the leader and on a standby. */
public final class NodeStateStore {
    private final Map<String, NodeState> nodes = new ConcurrentHashMap<>();
    private final Map<HealthState, LongAdder> devices = new EnumMap<>(HealthState.class);

    /** A store without nodes. */
    public NodeStateStore() {
        for (HealthState state : HealthState.values()) {
            devices.put(state, new LongAdder());
        }
    }

    /** The states are read anew. */
    public void clear() {
        nodes.clear();
        devices.values().forEach(LongAdder::reset);
    }

    /** States were committed, and nodes given up. */
    public void committed(Map<String, NodeState> states, Set<String> forgotten) {
        states.forEach((name, state) -> {
            count(nodes.put(name, state), -1);
            count(state, 1);
        });
        forgotten.forEach(name -> count(nodes.remove(name), -1));
    }

    /** Newest state of a node. */
    public Optional<NodeState> node(String name) {
        return Optional.ofNullable(nodes.get(name));
    }

    /** Nodes that list or remember the device; several after it moved. */
    public Stream<NodeState> withDevice(String uuid) {
        return nodes.values().stream().filter(state -> state.device(uuid).isPresent());
    }

    /** Number of devices in each state, kept up with each commit: counting those of 100,000 nodes takes long. */
    public Map<HealthState, Long> devicesByState() {
        Map<HealthState, Long> counts = new EnumMap<>(HealthState.class);
        devices.forEach((state, number) -> counts.put(state, number.sum()));
        return counts;
    }

    private void count(@Nullable NodeState node, int number) {
        if (node != null) {
            for (Device device : node.devices().values()) {
                Objects.requireNonNull(devices.get(device.health().state())).add(number);
            }
        }
    }

    /** All nodes, in no particular order. */
    public Collection<NodeState> nodes() {
        return nodes.values();
    }
}
