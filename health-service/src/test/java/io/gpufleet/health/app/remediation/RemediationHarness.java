package io.gpufleet.health.app.remediation;

import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.remediation.RemediationAdmission;
import io.gpufleet.health.model.remediation.RemediationProgress;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A node with two GPUs that nobody holds, and the steps about it; reports become commits as the machine makes them. */
final class RemediationHarness {
    /** A pool in mode observe. */
    static final PermittedActions OBSERVE = new PermittedActions() {
        @Override
        public Mode mode(Map<String, String> labels) {
            return Mode.OBSERVE;
        }

        @Override
        public Optional<String> refusesTaint() {
            return Optional.empty();
        }

        @Override
        public Optional<String> refusesDevices(int more) {
            return Optional.empty();
        }
    };

    final FakeRemediations objects = new FakeRemediations();
    final RemediationAdmission admission = new RemediationAdmission();
    final NodeScenario node;
    Optional<String> freeze = Optional.empty();
    boolean held = true;
    /** False while reports get lost, as in a crash between a call and its report. */
    boolean commits = true;

    private final CurrentLease lease = new CurrentLease();
    private final HealthPolicy policy;
    private int boots = 1;

    RemediationHarness(HealthPolicy policy) {
        this.policy = policy;
        node = new NodeScenario(policy).nodeObserved("uid-1").announced("gpu-0", "gpu-1");
        lease.begin(() -> held);
        holders();
    }

    void holders(Holdings.Holder... holders) {
        node.handle(new HealthSignal.DevicesHeld(
                node.nextMetadata(), NodeScenario.INCARNATION, new Holdings(true, List.of(holders))));
    }

    /** One step of a replica that remembers nothing but what is committed. */
    RemediationProgress run() {
        var reports = new ArrayList<HealthSignal>();
        InstantSource time = node::now;
        var step = new RemediationReconciler(
                        objects,
                        (_, remediation, phase, message) -> append(
                                reports,
                                new HealthSignal.RemediationReported(node.nextMetadata(), remediation, phase, message)),
                        admission,
                        () -> policy,
                        lease,
                        time.withZone(ZoneOffset.UTC))
                .pausedBy(() -> freeze);
        var _ = step.run(node.state());
        if (commits) {
            reports.forEach(node::handle);
        }
        admission.committed("node-1", progress());
        return progress();
    }

    private static CompletionStage<Void> append(List<HealthSignal> reports, HealthSignal report) {
        reports.add(report);
        return CompletableFuture.completedFuture(null);
    }

    RemediationProgress progress() {
        return node.state().acting().remediation();
    }

    void reboot() {
        boots++;
        node.withIncarnation(new DaemonIncarnation("boot-" + boots, 1_000 + boots, false))
                .announced("gpu-0", "gpu-1");
    }
}
