package io.gpufleet.health.app.remediation;

import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.app.NodeStepRunner;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.remediation.RemediationAdmission;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.health.model.remediation.RemediationProgress.Phase;
import java.util.Collection;

/** Asks executors for what committed states recommend, beside the writer. */
public final class Remediator implements AutoCloseable {
    private final RemediationReconciler step;
    private final RemediationAdmission admission;
    private final NodeStepRunner runner;

    /** Does nothing before {@link #begin}, and nothing about a node before its backlog is read. */
    public Remediator(RemediationReconciler step, RemediationAdmission admission, CatchUpStatus backlog) {
        this.step = step;
        this.admission = admission;
        this.runner = new NodeStepRunner("remediation", backlog, step::run);
    }

    /** A term of this replica begins with these committed states. */
    public void begin(Collection<NodeState> committed) {
        admission.clear();
        step.clear();
        runner.begin();
        committed.forEach(
                state -> admission.committed(state.node().name(), state.acting().remediation()));
        committed.forEach(this::committed);
    }

    /** A state was committed. */
    public void committed(NodeState state) {
        RemediationProgress progress = state.acting().remediation();
        admission.committed(state.node().name(), progress);
        boolean recommended = state.health().recommendedAction().compareTo(RecommendedAction.RESET_GPU) >= 0;
        boolean returns = state.devices().values().stream()
                .anyMatch(device -> device.health() instanceof DeviceHealth.Recovering);
        if (recommended || returns || progress.phase() != Phase.NONE) {
            runner.request(state);
        } else {
            runner.forget(state.node().name());
        }
    }

    /** The node was given up. */
    public void forget(String node) {
        runner.forget(node);
        admission.committed(node, RemediationProgress.NONE);
    }

    /** The term is over; calls ask for the lease, which is over too. */
    public void end() {
        runner.end();
    }

    @Override
    public void close() {
        runner.close();
    }
}
