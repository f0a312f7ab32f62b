package io.gpufleet.health.kafka;

import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.runtime.projection.StateListener;
import java.util.Map;
import java.util.Set;

/** Hands every committed state to the store that readers use. */
public final class CommittedStates implements StateListener<NodeState> {
    private final NodeStateStore store;

    /** Listener of one store. */
    public CommittedStates(NodeStateStore store) {
        this.store = store;
    }

    @Override
    public void cleared() {
        store.clear();
    }

    @Override
    public void committed(Map<String, NodeState> states, Set<String> forgotten) {
        store.committed(states, forgotten);
    }
}
