package io.gpufleet.health.app.remediation;

import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.remediation.RemediationAdmission;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;

/** Runs {@link RemediationReconciler} as {@link Remediator} does, where that does it on threads and timers. */
public final class SimulatedRemediator {
    private final RemediationAdmission admission = new RemediationAdmission();
    private final RemediationReconciler step;

    /** Asks executors through the client. */
    public SimulatedRemediator(
            RemediationClient client,
            RemediationProgressSink sink,
            HealthPolicy policy,
            CurrentLease lease,
            Clock clock) {
        step = new RemediationReconciler(client, sink, admission, () -> policy, lease, clock);
    }

    /** A term begins. */
    public void begin(Collection<NodeState> committed) {
        admission.clear();
        step.clear();
        committed.forEach(this::committed);
    }

    /** A state was committed. */
    public void committed(NodeState state) {
        admission.committed(state.node().name(), state.acting().remediation());
    }

    /** One step; how long to wait for the next. */
    public Optional<Duration> run(NodeState state) {
        return step.run(state);
    }

    /** True when nothing is under way, and nothing is left that an executor could be asked for. */
    public static boolean done(NodeState state, HealthPolicy policy, Instant now) {
        return !state.acting().remediation().open()
                && new DueRemediation(state, policy).at(now).isEmpty();
    }
}
