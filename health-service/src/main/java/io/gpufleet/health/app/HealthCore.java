package io.gpufleet.health.app;

import io.gpufleet.health.model.Conclusion;
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
 * State of every node. One thread writes; anybody may read, since a node's state is immutable. What is read may not be
 * committed yet, so nothing acts on it: acting follows {@link Reconciler#verdict}.
 */
public final class HealthCore {
    private final HealthMachine machine;
    private final Map<String, NodeState> nodes = new ConcurrentHashMap<>();
    private final Set<String> waiting = ConcurrentHashMap.newKeySet();

    /** An empty core. */
    public HealthCore(HealthMachine machine) {
        this.machine = machine;
    }

    /** Decides and applies one signal of a node. */
    public Conclusion handle(String node, HealthSignal signal, Instant now) {
        NodeState before = Optional.ofNullable(nodes.get(node))
                .orElseGet(() -> NodeState.unknown(node, signal.heard().at()));
        Conclusion conclusion = machine.decide(before, signal, now);
        if (!conclusion.events().isEmpty()) {
            restore(conclusion.state());
        }
        return conclusion;
    }

    /** What the passing of time changes, one conclusion a node; nodes on which nothing waits are not looked at. */
    public List<Conclusion> tick(Instant now) {
        return List.copyOf(waiting).stream()
                .map(node -> handle(node, HealthSignal.TimePassed.at(now), now))
                .filter(conclusion -> !conclusion.events().isEmpty())
                .toList();
    }

    /** Takes a state as it is; decides nothing. */
    public void restore(NodeState state) {
        nodes.put(state.node(), state);
        if (state.waits()) {
            waiting.add(state.node());
        } else {
            waiting.remove(state.node());
        }
    }

    /** A node is not known any more. */
    public void forget(String node) {
        nodes.remove(node);
        waiting.remove(node);
    }

    /** Back to the empty state. */
    public void clear() {
        nodes.clear();
        waiting.clear();
    }

    /** The newest state of a node. */
    public Optional<NodeState> node(String name) {
        return Optional.ofNullable(nodes.get(name));
    }

    /** The nodes that know the device; more than one after it moved. */
    public Stream<NodeState> withDevice(String uuid) {
        return nodes.values().stream().filter(state -> state.device(uuid).isPresent());
    }

    /** Every node, in no order. */
    public Collection<NodeState> nodes() {
        return nodes.values();
    }
}
