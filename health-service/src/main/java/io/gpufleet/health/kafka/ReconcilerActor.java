package io.gpufleet.health.kafka;

import io.gpufleet.health.app.Reconciler;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.States;
import java.util.ArrayList;
import java.util.Map;
import java.util.Set;

/** Hands committed verdicts and the lease to the reconciler. */
public final class ReconcilerActor implements Actor<NodeState> {
    private final Reconciler reconciler;

    /** Actor of one reconciler. */
    public ReconcilerActor(Reconciler reconciler) {
        this.reconciler = reconciler;
    }

    @Override
    public void begin(Lease lease, States<NodeState> states) {
        var verdicts = new ArrayList<Verdict>(states.size());
        states.forEach((_, state) -> verdicts.add(Verdict.of(state)));
        reconciler.begin(lease::held, verdicts);
    }

    @Override
    public void changed(Map<String, NodeState> states, Set<String> forgotten) {
        states.values().forEach(state -> reconciler.verdictCommitted(Verdict.of(state)));
        forgotten.forEach(reconciler::forget);
    }

    @Override
    public void end() {
        reconciler.end();
    }
}
