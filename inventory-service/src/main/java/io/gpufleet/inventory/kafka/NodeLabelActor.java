package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.app.KubernetesActor;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.States;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Has the changed nodes labelled while this replica leads.
 *
 * @param kubernetes labels them
 * @param view shows what only a leader knows while this replica leads
 */
public record NodeLabelActor(KubernetesActor kubernetes, FleetView view) implements Actor<NodeState> {
    @Override
    public void begin(Lease lease, States<NodeState> states) {
        kubernetes.begin(lease::held);
    }

    @Override
    public void changed(Map<String, NodeState> states, Set<String> forgotten) {
        states.keySet().forEach(kubernetes::changed);
        forgotten.forEach(kubernetes::changed);
    }

    @Override
    public void end() {
        kubernetes.end();
        view.suspect(List.of());
    }
}
