package io.gpufleet.health.app.drain;

import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Drains a Node of any API server whose GPU needs a reboot; time passes by a minute and more a step. */
public final class DrainHarness {
    private static final DrainSettings SETTINGS = new DrainSettings(
            new DrainSettings.Times(Duration.ZERO, Duration.ofHours(1), Duration.ZERO),
            DrainSettings.OnDeadline.WAIT,
            1,
            List.of("gpufleet-it-*"),
            List.of(),
            MaintenanceWindows.ANY_TIME);

    private final NodeScenario node;
    private final DrainStep step;
    private final List<DrainSink.Report> reports = new ArrayList<>();

    /** Before its first step. */
    public DrainHarness(String name, PodClient pods, CurrentLease lease) {
        node = new NodeScenario(name, TestPolicies.draining(DrainMode.GPU_PODS))
                .nodeObserved("uid-1")
                .announced("gpu-0")
                .xid("gpu-0", 79);
        InstantSource time = node::now;
        step = new DrainStep(
                pods,
                (_, report) -> record(report),
                new DrainAdmission(),
                () -> SETTINGS,
                lease,
                time.withZone(ZoneOffset.UTC));
    }

    private CompletionStage<Void> record(DrainSink.Report report) {
        reports.add(report);
        return CompletableFuture.completedFuture(null);
    }

    /** One step, a minute later, and the commit of what it reported. */
    public DrainProgress step() {
        node.advance(Duration.ofSeconds(61));
        reports.clear();
        var _ = step.run(node.state());
        reports.forEach(report -> node.handle(new HealthSignal.DrainReported(
                node.nextMetadata(), report.nodeUid(), report.phase(), report.jobs(), report.message())));
        return progress();
    }

    /** Committed progress. */
    public DrainProgress progress() {
        return node.state().acting().drain();
    }
}
