package io.gpufleet.health.app;

import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeState;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * State of every node. One thread writes, any thread reads, since a state is immutable. A state may not be committed
 * yet, so nothing acts on it: the reconciler acts after {@link Reconciler#verdictCommitted}.
 */
public final class NodeStateStore {
    private final HealthMachine machine;
    private final Map<String, NodeState> nodes = new ConcurrentHashMap<>();
    private final Set<String> timeDependent = ConcurrentHashMap.newKeySet();

    /** Empty store. */
    public NodeStateStore(HealthMachine machine) {
        this.machine = machine;
    }

    /** Decides on one signal of a node and applies the events. */
    public DecisionResult handle(String node, HealthSignal signal, Instant now) {
        NodeState before = Optional.ofNullable(nodes.get(node))
                .orElseGet(() -> NodeState.unknown(node, signal.metadata().at()));
        DecisionResult result = machine.decide(before, signal, now);
        if (!result.events().isEmpty()) {
            restore(result.state());
        }
        return result;
    }

    /** Lets time pass for the nodes that change with time; answers the results that have events. */
    public List<DecisionResult> tick(Instant now) {
        return List.copyOf(timeDependent).stream()
                .map(node -> handle(node, HealthSignal.TimePassed.at(now), now))
                .filter(result -> !result.events().isEmpty())
                .toList();
    }

    /** Stores a state without deciding. */
    public void restore(NodeState state) {
        String node = state.node().name();
        nodes.put(node, state);
        if (state.changesWithTime()) {
            timeDependent.add(node);
        } else {
            timeDependent.remove(node);
        }
    }

    /** Removes a node. */
    public void forget(String node) {
        nodes.remove(node);
        timeDependent.remove(node);
    }

    /** Removes all nodes. */
    public void clear() {
        nodes.clear();
        timeDependent.clear();
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
