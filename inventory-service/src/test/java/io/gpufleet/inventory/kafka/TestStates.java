package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.States;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/** States in a map, to which effects are applied as the engine does. */
final class TestStates implements States<NodeState> {
    private final Map<String, NodeState> states = new HashMap<>();

    Effects<NodeState> apply(Effects<NodeState> effects) {
        effects.forgotten().forEach(states::remove);
        states.putAll(effects.states());
        return effects;
    }

    void clear() {
        states.clear();
    }

    @Override
    public Optional<NodeState> get(String key) {
        return Optional.ofNullable(states.get(key));
    }

    @Override
    public int size() {
        return states.size();
    }

    @Override
    public void forEach(BiConsumer<String, NodeState> each) {
        states.forEach(each);
    }
}
