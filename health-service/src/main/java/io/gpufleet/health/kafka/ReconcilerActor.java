package io.gpufleet.health.kafka;

import io.gpufleet.health.app.Reconciler;
import io.gpufleet.health.app.drain.Drainer;
import io.gpufleet.health.app.remediation.Remediator;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.States;
import java.util.ArrayList;
import java.util.Map;
import java.util.Set;

/** Hands committed states and the lease to the reconciler, the drainer and the remediator. */
public final class ReconcilerActor implements Actor<NodeState> {
    private final Reconciler reconciler;
    private final Drainer drainer;
    private final Remediator remediator;

    /** Actor of one of each. */
    public ReconcilerActor(Reconciler reconciler, Drainer drainer, Remediator remediator) {
        this.reconciler = reconciler;
        this.drainer = drainer;
        this.remediator = remediator;
    }

    @Override
    public void begin(Lease lease, States<NodeState> states) {
        var verdicts = new ArrayList<Verdict>(states.size());
        var all = new ArrayList<NodeState>(states.size());
        states.forEach((_, state) -> {
            verdicts.add(Verdict.of(state));
            all.add(state);
        });
        reconciler.begin(lease::held, verdicts);
        drainer.begin(all);
        remediator.begin(all);
    }

    @Override
    public void changed(Map<String, NodeState> states, Set<String> forgotten) {
        states.values().forEach(state -> {
            reconciler.verdictCommitted(Verdict.of(state));
            drainer.committed(state);
            remediator.committed(state);
        });
        forgotten.forEach(node -> {
            reconciler.forget(node);
            drainer.forget(node);
            remediator.forget(node);
        });
    }

    @Override
    public void end() {
        drainer.end();
        remediator.end();
        reconciler.end();
    }
}
