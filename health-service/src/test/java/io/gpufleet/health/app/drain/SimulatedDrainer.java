package io.gpufleet.health.app.drain;

import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.DrainSettings;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;

/** Runs {@link DrainStep} as {@link Drainer} does, where that does it on threads and timers. */
public final class SimulatedDrainer {
    private final DrainAdmission admission = new DrainAdmission();
    private final DrainStep step;

    /** Drains through the client. */
    public SimulatedDrainer(PodClient pods, DrainSink sink, DrainSettings settings, CurrentLease lease, Clock clock) {
        step = new DrainStep(pods, sink, admission, () -> settings, lease, clock);
    }

    /** A term begins. */
    public void begin(Collection<NodeState> committed) {
        admission.clear();
        step.clear();
        committed.forEach(
                state -> admission.committed(state.node().name(), state.acting().drain()));
    }

    /** A state was committed; true where a step is wanted. */
    public boolean committed(NodeState state) {
        DrainProgress progress = state.acting().drain();
        admission.committed(state.node().name(), progress);
        return !state.drainOrder().isNone() || progress.active() || progress.phase() == DrainProgress.Phase.WAITING;
    }

    /** One step; how long to wait for the next. */
    public Optional<Duration> run(NodeState state) {
        return step.run(state);
    }
}
