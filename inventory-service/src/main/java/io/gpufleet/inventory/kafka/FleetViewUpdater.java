package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.runtime.projection.StateListener;
import java.util.Map;
import java.util.Set;

/**
 * Keeps the view of the fleet at the committed states.
 *
 * @param view read by HTTP, gRPC, metrics and the labels
 */
public record FleetViewUpdater(FleetView view) implements StateListener<NodeState> {
    @Override
    public void cleared() {
        view.clear();
    }

    @Override
    public void committed(Map<String, NodeState> states, Set<String> forgotten) {
        view.commit(states.values(), forgotten);
    }
}
