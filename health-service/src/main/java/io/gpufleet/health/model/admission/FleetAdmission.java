package io.gpufleet.health.model.admission;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.DrainReported;
import io.gpufleet.health.model.HealthSignal.RemediationReported;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.health.model.remediation.RemediationSettings;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * How many nodes are drained and worked on at once, and that no two of one job are. A leader keeps to it when it asks; what a leader
 * asked for that was replaced meanwhile is read later. The one writer sees both.
 */
public final class FleetAdmission {
    private FleetAdmission() {}

    /**
     * The signal as it may be applied: a drain beyond the limits waits, and a remediation beyond them is not requested.
     *
     * @param fleet passes every node with its state
     */
    public static Optional<HealthSignal> admitted(
            HealthPolicy policy, String node, HealthSignal signal, Consumer<BiConsumer<String, NodeState>> fleet) {
        if (signal instanceof DrainReported report && report.phase() == DrainProgress.Phase.ACTIVE) {
            return drain(policy.drain(), node, report, fleet);
        }
        return signal instanceof RemediationReported report
                        && report.phase() == RemediationProgress.Phase.REQUESTED
                        && isFull(policy.remediation(), node, fleet)
                ? Optional.empty()
                : Optional.of(signal);
    }

    private static Optional<HealthSignal> drain(
            DrainSettings settings, String node, DrainReported report, Consumer<BiConsumer<String, NodeState>> fleet) {
        var admission = new DrainAdmission();
        var before = new DrainProgress[] {DrainProgress.NONE};
        fleet.accept((name, state) -> {
            admission.committed(name, state.acting().drain());
            if (name.equals(node)) {
                before[0] = state.acting().drain();
            }
        });
        boolean goesOn = before[0].active() && before[0].jobs().containsAll(report.jobs());
        Optional<String> refusal = goesOn
                ? Optional.empty()
                : admission.admit(
                        node, report.jobs(), settings, report.metadata().at());
        if (refusal.isEmpty()) {
            return Optional.of(report);
        }
        return before[0].active()
                ? Optional.empty()
                : Optional.of(new DrainReported(
                        report.metadata(), report.uid(), DrainProgress.Phase.WAITING, before[0].jobs(), refusal.get()));
    }

    private static boolean isFull(
            RemediationSettings settings, String node, Consumer<BiConsumer<String, NodeState>> fleet) {
        var open = new int[1];
        fleet.accept((name, state) -> {
            if (!name.equals(node) && state.acting().remediation().open()) {
                open[0]++;
            }
        });
        return open[0] >= settings.nodes();
    }
}
