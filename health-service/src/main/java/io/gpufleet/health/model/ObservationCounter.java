package io.gpufleet.health.model;

import io.gpufleet.health.model.HealthSignal.FaultObserved;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.SuspectReason;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.RuleTiming;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Which observations of a fault count, and what holds the fault off until there are enough. */
final class ObservationCounter {
    private final Evaluation evaluation;
    private final HealthPolicy policy;

    ObservationCounter(Evaluation evaluation, HealthPolicy policy) {
        this.evaluation = evaluation;
        this.policy = policy;
    }

    /** True for a report that says nothing new within the time in which the rule counts one. */
    boolean isRepetition(FaultObserved fault) {
        Duration coalesce = policy.timing(fault.code()).coalesce();
        List<Instant> times = evaluation.state().seen(fault.device(), fault.code());
        return !coalesce.isZero()
                && !times.isEmpty()
                && evaluation.at().isBefore(times.getLast().plus(coalesce))
                && Optional.ofNullable(
                                evaluation.state().episodesOf(fault.device()).get(fault.code()))
                        .filter(open -> open.report().equals(fault.fault().report()))
                        .isPresent();
    }

    void seen(FaultObserved fault) {
        if (policy.countsObservations(fault.code()) && evaluation.withinDeviceLimit(fault.device())) {
            List<Instant> before = evaluation.state().seen(fault.device(), fault.code());
            List<Instant> after = policy.timing(fault.code()).threshold().with(before, evaluation.at());
            if (!after.equals(before)) {
                evaluation.emit(new NodeStateChange.FaultSeen(fault.device(), fault.code(), after));
            }
        }
    }

    /** Reason to hold off a fault that is reported now, which only time or further observations lift. */
    SuspectReason restraint(String uuid, FaultCode code, Optional<Episode> before) {
        RuleTiming timing = policy.timing(code);
        NodeState state = evaluation.state();
        Instant at = evaluation.at();
        boolean onProbation = state.device(uuid)
                .filter(device -> at.isBefore(device.history().recovered().plus(timing.probation())))
                .isPresent();
        if (onProbation) {
            return SuspectReason.NONE;
        }
        boolean booting =
                !timing.bootGrace().isZero() && at.isBefore(state.boot().began().plus(timing.bootGrace()));
        boolean grace = before.map(Episode::inGrace).orElse(!timing.grace().isZero() || booting);
        boolean threshold = before.map(open -> open.restraint().threshold()).orElse(true)
                && !timing.threshold().isFirst()
                && !timing.threshold().reached(state.seen(uuid, code));
        return new SuspectReason(grace, threshold);
    }
}
