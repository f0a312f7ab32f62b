package io.gpufleet.health.app.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.remediation.RemediationClient.ObjectPhase;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.drain.PodOnNode.PodName;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.maintenance.MaintenanceWindow;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.health.model.remediation.RemediationProgress.Phase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A remediation from its request to its effect; reports become commits as the machine makes them. */
class RemediationReconcilerTest {
    private static final Duration DEADLINE = Duration.ofMinutes(30);
    private static final HealthPolicy POLICY =
            TestPolicies.remediating(TestPolicies.standard(), RecommendedAction.RESET_GPU, RecommendedAction.REBOOT);

    private RemediationHarness fleet = new RemediationHarness(POLICY);

    private void given(HealthPolicy policy, int xid) {
        fleet = new RemediationHarness(policy);
        fleet.node.xid("gpu-0", xid);
    }

    private RemediationProgress run() {
        return fleet.run();
    }

    private RemediationProgress progress() {
        return fleet.progress();
    }

    private void timeOut() {
        fleet.node.advance(DEADLINE).tick();
    }

    @Test
    void aRebootIsAskedForOnceItsRequestIsCommitted() {
        given(POLICY, 79);

        assertThat(run().phase()).isEqualTo(Phase.REQUESTED);
        assertThat(fleet.objects.made).isEmpty();
        assertThat(run().message()).isEqualTo("waits for an executor");
        assertThat(fleet.objects.made).containsExactly(progress().remediation().name());
        run();
        assertThat(fleet.objects.made).hasSize(1);
    }

    @Test
    void nobodyIsAskedUnlessThePolicySaysSo() {
        given(TestPolicies.standard(), 79);

        assertThat(run()).isEqualTo(RemediationProgress.NONE);
    }

    @Test
    void aRebootWaitsForAMaintenanceWindowAndAResetDoesNot() {
        // Given a Sunday, and a window on another day
        var windows = new MaintenanceWindows(List.of(MaintenanceWindow.parse("Mon 02:00-06:00 UTC")));
        given(TestPolicies.within(windows, POLICY), 79);
        assertThat(run()).isEqualTo(RemediationProgress.NONE);
        fleet.node.advance(Duration.ofHours(16));
        assertThat(run().phase()).isEqualTo(Phase.REQUESTED);

        given(TestPolicies.within(windows, POLICY), 95);
        assertThat(run().remediation().action()).isEqualTo(RecommendedAction.RESET_GPU);
    }

    @Test
    void modeObserveAsksNobody() {
        fleet.node.with(RemediationHarness.OBSERVE).xid("gpu-0", 79);

        assertThat(run()).isEqualTo(RemediationProgress.NONE);
    }

    @Test
    void itWaitsForTheDrainThatTheRuleAsksFor() {
        given(TestPolicies.remediating(TestPolicies.draining(DrainMode.GPU_PODS), RecommendedAction.REBOOT), 79);

        assertThat(run()).isEqualTo(RemediationProgress.NONE);

        fleet.node.handle(new HealthSignal.DrainReported(
                fleet.node.nextMetadata(), "uid-1", DrainProgress.Phase.DRAINED, List.of(), "every pod has left"));
        assertThat(run().phase()).isEqualTo(Phase.REQUESTED);
    }

    @Test
    void itWaitsUntilNobodyHoldsAGpuOfTheNode() {
        given(POLICY, 79);
        fleet.holders(new Holdings.Holder(new PodName("default", "train", "uid-p"), List.of("gpu-1")));

        assertThat(run()).isEqualTo(RemediationProgress.NONE);
    }

    @Test
    void aResetWaitsForTheHoldersOfItsGpuOnly() {
        given(POLICY, 95);
        fleet.holders(new Holdings.Holder(new PodName("default", "train", "uid-p"), List.of("gpu-1")));

        assertThat(run().remediation().action()).isEqualTo(RecommendedAction.RESET_GPU);
    }

    @Test
    void aCrashBetweenMakingTheObjectAndSayingSoMakesNoSecondOne() {
        given(POLICY, 79);
        var requested = run().remediation();
        fleet.objects.create("node-1", requested);

        run();

        assertThat(progress().phase()).isEqualTo(Phase.CREATED);
        assertThat(fleet.objects.made).hasSize(1);
    }

    @Test
    void aNewBootIsTheEffectOfAReboot() {
        given(POLICY, 79);
        run();
        String name = run().remediation().name();

        fleet.reboot();
        assertThat(progress().phase()).isEqualTo(Phase.SUCCEEDED);

        run();
        assertThat(fleet.objects.phase(name)).isEqualTo(ObjectPhase.SUCCEEDED);
    }

    @Test
    void reportOfAnExecutorIsNoEffect() {
        given(POLICY, 95);
        run();
        run();
        fleet.objects.status(progress().remediation(), ObjectPhase.SUCCEEDED, "resetter", "");

        assertThat(run().phase()).isEqualTo(Phase.CREATED);
        assertThat(progress().message()).isEqualTo("resetter says that it is done; its effect was not seen yet");

        fleet.node.cleared("gpu-0", FaultCode.xid(95));
        assertThat(progress().phase()).isEqualTo(Phase.SUCCEEDED);
    }

    @Test
    void aStuckOneTimesOutCountsAndIsFollowedByTheNextStep() {
        given(POLICY, 95);
        var asked = new ArrayList<String>();
        while (run().phase() == Phase.REQUESTED) {
            asked.add(progress().remediation().text());
            run();
            fleet.objects.status(progress().remediation(), ObjectPhase.RUNNING, "stuck", "");
            String name = run().remediation().name();
            timeOut();
            assertThat(progress().phase()).isEqualTo(Phase.TIMED_OUT);
            // What is asked for next is a new object: this one cannot be claimed late.
            assertThat(endedBy(name)).isEqualTo(ObjectPhase.TIMED_OUT);
        }

        assertThat(asked)
                .containsExactly(
                        "reset-gpu, attempt 1, for xid-95 of gpu-0",
                        "reset-gpu, attempt 2, for xid-95 of gpu-0",
                        "reboot, attempt 1, for xid-95 of gpu-0",
                        "reboot, attempt 2, for xid-95 of gpu-0");
        assertThat(fleet.node.health("gpu-0").recommendedAction()).isEqualTo(RecommendedAction.POWER_CYCLE);
    }

    private ObjectPhase endedBy(String name) {
        fleet.freeze = Optional.of("so that nothing else is asked for");
        run();
        fleet.freeze = Optional.empty();
        return fleet.objects.phase(name);
    }

    @Test
    void aThirdRebootIsNotAskedFor() {
        given(POLICY, 79);
        for (int i = 0; i < 2; i++) {
            run();
            run();
            assertThat(progress().phase()).isEqualTo(Phase.CREATED);
            fleet.reboot();
            fleet.node.xid("gpu-0", 79);
        }

        run();
        run();

        assertThat(progress().open()).isFalse();
        assertThat(fleet.objects.made).hasSize(2);
    }

    @Test
    void failedRebootsOfANodeWideFaultComeToTheNextStep() {
        fleet.node.xid("", 79);
        for (int attempt = 1; attempt <= 2; attempt++) {
            assertThat(run().remediation().text()).isEqualTo("reboot, attempt " + attempt + ", for xid-79 of the node");
            run();
            fleet.objects.status(progress().remediation(), ObjectPhase.FAILED, "bmc", "no route");
            assertThat(run().phase()).isEqualTo(Phase.FAILED);
        }

        run();
        run();

        assertThat(progress().open()).isFalse();
        assertThat(fleet.objects.made).hasSize(2);
        assertThat(fleet.node.state().health().recommendedAction()).isEqualTo(RecommendedAction.POWER_CYCLE);
    }

    @Test
    void oneThatFailedCountsAsAnAttempt() {
        given(POLICY, 79);
        run();
        run();
        fleet.objects.status(progress().remediation(), ObjectPhase.FAILED, "bmc", "no route");

        assertThat(run().message()).isEqualTo("bmc gave up: no route");
        assertThat(fleet.node.state().device("gpu-0").orElseThrow().history().attempts())
                .containsKey(RecommendedAction.REBOOT);
        run();
        assertThat(progress().remediation().attempt()).isEqualTo(2);
    }

    @Test
    void aClaimWithoutABeginIsAFailedAttemptLongBeforeItsDeadline() {
        given(POLICY, 79);
        run();
        String name = run().remediation().name();
        fleet.objects.status(progress().remediation(), ObjectPhase.CLAIMED, "died", "");
        run();
        fleet.node.advance(RemediationReconciler.BEGUN_WITHIN.minusSeconds(1));
        assertThat(run().message()).isEqualTo("claimed by died");

        fleet.node.advance(Duration.ofSeconds(1));

        assertThat(run().phase()).isEqualTo(Phase.FAILED);
        assertThat(fleet.objects.phase(name)).isEqualTo(ObjectPhase.FAILED);
        assertThat(run().remediation().attempt()).isEqualTo(2);
    }

    @Test
    void anExecutorThatBeganOrSaysWhatItWaitsForKeepsItsClaim() {
        given(POLICY, 79);
        run();
        run();
        fleet.objects.status(progress().remediation(), ObjectPhase.CLAIMED, "bmc", "");
        run();
        fleet.node.advance(RemediationReconciler.BEGUN_WITHIN);
        fleet.objects.status(progress().remediation(), ObjectPhase.CLAIMED, "bmc", "waits for the rack");
        assertThat(run().message()).isEqualTo("claimed by bmc: waits for the rack");

        fleet.objects.status(progress().remediation(), ObjectPhase.RUNNING, "bmc", "");
        run();
        fleet.node.advance(RemediationReconciler.BEGUN_WITHIN);
        assertThat(run().message()).isEqualTo("bmc works on it");
    }

    @Test
    void aDeletedOneIsNotMadeAgainBeforeItsDeadline() {
        given(POLICY, 79);
        run();
        run();
        fleet.objects.objects.clear();

        run();
        run();

        assertThat(progress().message()).startsWith("somebody deleted its object");
        assertThat(fleet.objects.made).hasSize(1);
    }

    @Test
    void whatNobodyClaimedIsTakenBackDuringMaintenance() {
        given(POLICY, 79);
        run();
        String name = run().remediation().name();
        fleet.node.command(Command.BEGIN_MAINTENANCE, "");

        assertThat(run().phase()).isEqualTo(Phase.WITHDRAWN);
        assertThat(fleet.objects.phase(name)).isEqualTo(ObjectPhase.WITHDRAWN);
        run();
        assertThat(progress().phase()).isEqualTo(Phase.WITHDRAWN);

        fleet.node.command(Command.END_MAINTENANCE, "");
        assertThat(run().phase()).isEqualTo(Phase.REQUESTED);
        assertThat(progress().remediation().name()).isNotEqualTo(name);
    }

    @Test
    void aFreezeAsksNobodyAndDisturbsNoExecutor() {
        given(POLICY, 79);
        fleet.freeze = Optional.of("frozen by ada");
        assertThat(run()).isEqualTo(RemediationProgress.NONE);

        fleet.freeze = Optional.empty();
        run();
        run();
        fleet.objects.status(progress().remediation(), ObjectPhase.CLAIMED, "bmc", "");
        fleet.freeze = Optional.of("frozen by ada");

        assertThat(run().phase()).isEqualTo(Phase.CREATED);
        assertThat(fleet.objects.phase(progress().remediation().name())).isEqualTo(ObjectPhase.CLAIMED);
    }

    @Test
    void withoutTheLeaseNothingIsMadeOrSaid() {
        given(POLICY, 79);
        run();
        fleet.held = false;

        run();

        assertThat(fleet.objects.made).isEmpty();
        assertThat(progress().phase()).isEqualTo(Phase.REQUESTED);
    }

    @Test
    void aRequestOfAFormerBootDoesNotBegin() {
        given(POLICY, 79);
        var requested = run().remediation();
        NodeScenario other = new NodeScenario(POLICY)
                .nodeObserved("uid-1")
                .withIncarnation(new DaemonIncarnation("boot-2", 2_000, false))
                .announced("gpu-0")
                .xid("gpu-0", 79);

        other.handle(new HealthSignal.RemediationReported(other.nextMetadata(), requested, Phase.REQUESTED, "late"));

        assertThat(other.state().acting().remediation()).isEqualTo(RemediationProgress.NONE);
    }

    @Test
    void anotherNodeHasToWait() {
        given(POLICY, 79);
        assertThat(fleet.admission.admit("node-2", POLICY.remediation(), fleet.node.now()))
                .isTrue();

        assertThat(run()).isEqualTo(RemediationProgress.NONE);
    }
}
