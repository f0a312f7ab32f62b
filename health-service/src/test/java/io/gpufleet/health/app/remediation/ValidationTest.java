package io.gpufleet.health.app.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.remediation.RemediationClient.ObjectPhase;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.drain.PodOnNode.PodName;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.health.model.remediation.RemediationProgress.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A GPU whose fault ended returns to service once an executor has proven that it works. */
class ValidationTest {
    private static final int RESET = 95;
    private static final int BOOT = 79;
    private static final HealthPolicy POLICY =
            TestPolicies.remediating(TestPolicies.standard(), RecommendedAction.VALIDATE);

    private final RemediationHarness fleet = new RemediationHarness(POLICY);

    private void faultThatEnded(String uuid) {
        fleet.node.xid(uuid, RESET).advance(Duration.ofSeconds(1)).cleared(uuid, FaultCode.xid(RESET));
    }

    /** Asks for the validation that is due, and lets an executor end it. */
    private RemediationProgress validation(ObjectPhase result) {
        fleet.run();
        fleet.run();
        fleet.objects.status(fleet.progress().remediation(), result, "tester", "dcgmi diag -r 2");
        return fleet.run();
    }

    private HealthState state(String uuid) {
        return fleet.node.health(uuid).state();
    }

    @Test
    void gpuWhoseFaultEndedIsOutUntilItIsProvenToWork() {
        faultThatEnded("gpu-0");
        fleet.node.advance(Duration.ofHours(1)).tick();
        assertThat(state("gpu-0")).isEqualTo(HealthState.RECOVERING);
        // When
        assertThat(fleet.run().remediation().text()).startsWith("validate, attempt 1, for Xid95 ended 2026");
        assertThat(state("gpu-0")).isEqualTo(HealthState.RECOVERING);
        RemediationProgress proven = validation(ObjectPhase.SUCCEEDED);
        // Then
        assertThat(proven.phase()).isEqualTo(Phase.SUCCEEDED);
        assertThat(proven.message()).isEqualTo("tester proved it: dcgmi diag -r 2");
        assertThat(state("gpu-0")).isEqualTo(HealthState.HEALTHY);
        assertThat(fleet.objects.made).hasSize(1);
    }

    @Test
    void policyThatDoesNotAskForItReturnsTheGpuAtOnce() {
        var other = new RemediationHarness(TestPolicies.standard());

        other.node.xid("gpu-0", RESET).cleared("gpu-0", FaultCode.xid(RESET));

        assertThat(other.node.health("gpu-0").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void gpuThatIsOnlyObservedWaitsForNothing() {
        fleet.node.with(RemediationHarness.OBSERVE);

        faultThatEnded("gpu-0");

        assertThat(state("gpu-0")).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void gpuThatDoesNotPassTwiceStaysOutUntilAPersonReleasesIt() {
        faultThatEnded("gpu-0");
        assertThat(validation(ObjectPhase.FAILED).phase()).isEqualTo(Phase.FAILED);
        assertThat(validation(ObjectPhase.FAILED).remediation().attempt()).isEqualTo(2);
        // When
        fleet.run();
        fleet.run();
        // Then
        assertThat(fleet.objects.made).hasSize(2);
        assertThat(state("gpu-0")).isEqualTo(HealthState.RECOVERING);

        fleet.node.command(Command.QUARANTINE, "gpu-0").command(Command.RELEASE, "gpu-0");
        assertThat(state("gpu-0")).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void oneThatNobodyCarriesOutCountsAtItsDeadline() {
        faultThatEnded("gpu-0");
        fleet.run();
        fleet.run();

        fleet.node.advance(Duration.ofMinutes(30)).tick();

        assertThat(fleet.progress().phase()).isEqualTo(Phase.TIMED_OUT);
        assertThat(state("gpu-0")).isEqualTo(HealthState.RECOVERING);
    }

    @Test
    void faultDuringTheValidationTakesItBack() {
        faultThatEnded("gpu-0");
        fleet.run();
        String name = fleet.run().remediation().name();

        fleet.node.xid("gpu-0", RESET);
        assertThat(fleet.progress().phase()).isEqualTo(Phase.WITHDRAWN);
        assertThat(state("gpu-0")).isEqualTo(HealthState.UNHEALTHY);

        fleet.run();
        assertThat(fleet.objects.phase(name)).isEqualTo(ObjectPhase.WITHDRAWN);
    }

    @Test
    void proofOfAFormerFaultIsNone() {
        faultThatEnded("gpu-0");
        validation(ObjectPhase.SUCCEEDED);
        assertThat(state("gpu-0")).isEqualTo(HealthState.HEALTHY);

        fleet.node.advance(Duration.ofSeconds(1));
        faultThatEnded("gpu-0");

        assertThat(state("gpu-0")).isEqualTo(HealthState.RECOVERING);
        assertThat(validation(ObjectPhase.SUCCEEDED).phase()).isEqualTo(Phase.SUCCEEDED);
        assertThat(fleet.objects.made).hasSize(2);
        assertThat(state("gpu-0")).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void newBootNeedsAProofOfItsOwn() {
        faultThatEnded("gpu-0");
        fleet.run();
        fleet.run();

        fleet.reboot();

        assertThat(fleet.progress().phase()).isEqualTo(Phase.WITHDRAWN);
        assertThat(fleet.run().remediation().target().bootId()).isEqualTo("boot-2");
    }

    /** The fault comes back after every attempt that the escalation has. */
    private void lastStep() {
        for (int i = 0; i < 3; i++) {
            fleet.node.xid("gpu-0", BOOT).advance(Duration.ofMinutes(5));
            fleet.reboot();
        }
        fleet.node.xid("gpu-0", BOOT).advance(Duration.ofMinutes(5));
        assertThat(fleet.node.health("gpu-0").recommendedAction()).isEqualTo(RecommendedAction.REPLACE);
    }

    private RecommendedAction nextFault() {
        fleet.node.advance(Duration.ofHours(1)).xid("gpu-0", BOOT);
        return fleet.node.health("gpu-0").recommendedAction();
    }

    @Test
    void passedValidationEndsTheLastStepAndForgetsWhatWasTried() {
        lastStep();

        fleet.reboot();
        assertThat(state("gpu-0")).as("out of service").isEqualTo(HealthState.RECOVERING);
        assertThat(validation(ObjectPhase.SUCCEEDED).phase()).isEqualTo(Phase.SUCCEEDED);

        assertThat(state("gpu-0")).isEqualTo(HealthState.HEALTHY);
        assertThat(fleet.node.verdict().trusted()).isTrue();
        assertThat(nextFault()).isEqualTo(RecommendedAction.REBOOT);
    }

    @Test
    void lastStepWithoutAPassedValidationStaysTheLastStep() {
        lastStep();

        fleet.reboot();
        validation(ObjectPhase.FAILED);
        assertThat(nextFault()).as("reported again").isEqualTo(RecommendedAction.REPLACE);

        fleet.reboot();
        validation(ObjectPhase.FAILED);
        fleet.node.command(Command.QUARANTINE, "gpu-0").command(Command.RELEASE, "gpu-0");
        assertThat(nextFault()).as("a release forgets nothing").isEqualTo(RecommendedAction.REPLACE);
    }

    /** Or the third reset would follow the first two for ever. */
    @Test
    void validationThatPassesBeforeTheLastStepForgetsNoAttempt() {
        for (int i = 0; i < 2; i++) {
            faultThatEnded("gpu-0");
            assertThat(validation(ObjectPhase.SUCCEEDED).phase()).isEqualTo(Phase.SUCCEEDED);
            fleet.node.advance(Duration.ofHours(1));
        }

        fleet.node.xid("gpu-0", RESET);

        assertThat(fleet.node.health("gpu-0").recommendedAction()).isEqualTo(RecommendedAction.REBOOT);
    }

    @Test
    void passedValidationForgetsThatAFormerOneFailed() {
        for (int i = 0; i < 3; i++) {
            faultThatEnded("gpu-0");
            assertThat(validation(ObjectPhase.FAILED).phase()).isEqualTo(Phase.FAILED);
            assertThat(validation(ObjectPhase.SUCCEEDED).phase()).isEqualTo(Phase.SUCCEEDED);
            assertThat(state("gpu-0")).isEqualTo(HealthState.HEALTHY);
            fleet.node.advance(Duration.ofHours(1));
        }
    }

    @Test
    void gpuWithANewFaultWhileOthersAreValidatedKeepsItsAttempts() {
        lastStep();
        fleet.reboot();
        faultThatEnded("gpu-1");
        fleet.run();
        fleet.run();

        fleet.node.xid("gpu-0", BOOT);
        fleet.objects.status(fleet.progress().remediation(), ObjectPhase.SUCCEEDED, "tester", "dcgmi diag -r 2");

        assertThat(fleet.run().phase()).isEqualTo(Phase.SUCCEEDED);
        assertThat(fleet.node.health("gpu-0").recommendedAction()).isEqualTo(RecommendedAction.REPLACE);
    }

    @Test
    void gpuThatHadToBeReplacedReturnsAfterAProofAndAPassedValidation() {
        lastStep();
        assertThat(state("gpu-0")).isEqualTo(HealthState.UNHEALTHY);
        fleet.run();
        assertThat(fleet.progress().open()).as("nothing to prove yet").isFalse();
        // When the daemon proves that it ended
        fleet.node
                .xid("gpu-0", BOOT)
                .cleared("gpu-0", FaultCode.xid(BOOT))
                .advance(Duration.ofHours(1))
                .tick();
        assertThat(state("gpu-0")).isEqualTo(HealthState.RECOVERING);
        RemediationProgress proven = validation(ObjectPhase.SUCCEEDED);
        // Then
        assertThat(proven.phase()).isEqualTo(Phase.SUCCEEDED);
        assertThat(state("gpu-0")).isEqualTo(HealthState.HEALTHY);
        assertThat(fleet.node.verdict().trusted()).isTrue();
    }

    @Test
    void gpusThatWaitTogetherAreProvenTogether() {
        faultThatEnded("gpu-0");
        faultThatEnded("gpu-1");

        RemediationProgress proven = validation(ObjectPhase.SUCCEEDED);

        assertThat(proven.remediation().target().devices())
                .extracting(RemediatedDevice::uuid)
                .containsExactly("gpu-0", "gpu-1");
        assertThat(List.of(state("gpu-0"), state("gpu-1"))).containsOnly(HealthState.HEALTHY);
    }

    @Test
    void gpuThatIsHeldIsNotTested() {
        fleet.holders(new Holdings.Holder(new PodName("default", "train", "uid-p"), List.of("gpu-0")));

        faultThatEnded("gpu-0");

        assertThat(fleet.run()).isEqualTo(RemediationProgress.NONE);
    }

    @Test
    void waitingNeedsNoTimer() {
        faultThatEnded("gpu-0");

        assertThat(new HealthMachine(POLICY, Duration.ofMinutes(10)).changesAt(fleet.node.state()))
                .isEqualTo(Instant.MAX);
    }
}
