package io.gpufleet.health.app.drain;

import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.app.NodeStepRunner;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.DrainProgress.Phase;
import java.util.Collection;

/** Drains the nodes for which a committed state asks that, beside the writer. */
public final class Drainer implements AutoCloseable {
    private final DrainStep step;
    private final DrainAdmission admission;
    private final NodeStepRunner runner;

    /** Does nothing before {@link #begin}, and nothing to a node before its backlog is read. */
    public Drainer(DrainStep step, DrainAdmission admission, CatchUpStatus backlog) {
        this.step = step;
        this.admission = admission;
        this.runner = new NodeStepRunner("drain", backlog, step::run);
    }

    /** A term of this replica begins with these committed states. */
    public void begin(Collection<NodeState> committed) {
        admission.clear();
        step.clear();
        runner.begin();
        committed.forEach(
                state -> admission.committed(state.node().name(), state.acting().drain()));
        committed.forEach(this::committed);
    }

    /** A state was committed. */
    public void committed(NodeState state) {
        String node = state.node().name();
        DrainProgress progress = state.acting().drain();
        admission.committed(node, progress);
        if (!state.drainOrder().isNone() || progress.active() || progress.phase() == Phase.WAITING) {
            runner.request(state);
        } else {
            runner.forget(node);
        }
    }

    /** The node was given up. */
    public void forget(String node) {
        runner.forget(node);
        admission.committed(node, DrainProgress.NONE);
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
