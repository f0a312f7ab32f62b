package io.gpufleet.health.model;

import static io.gpufleet.health.model.NodeScenario.openXid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class HealthMachineTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");

    private static Status status(Decision decision) {
        return decision.outcome().status();
    }

    @Test
    void healthyNodeHasNoVerdict() {
        assertThat(scenario.state().revision()).isZero();
        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().devices()).isEmpty();
    }

    @Test
    void verdictOfANewLogOutranksThoseOfTheFormerOne() {
        scenario.xid("gpu-0", 79);

        assertThat(scenario.verdict().revision()).isEqualTo(scenario.now().toEpochMilli());
    }

    @Test
    void revisionIncreasesWhenTheClockGoesBack() {
        scenario.xid("gpu-0", 79);
        long revision = scenario.verdict().revision();

        scenario.advance(Duration.ofHours(-1)).cleared("gpu-0", FaultCode.xid(79));

        assertThat(scenario.verdict().revision()).isEqualTo(revision + 1);
    }

    @Test
    void firstObservationOfTheNodeObjectOutranksAFormerLogWithoutAVerdict() {
        // When
        scenario.nodeObserved("uid-1");

        // Then
        assertThat(scenario.verdict().revision()).isEqualTo(scenario.now().toEpochMilli());
        assertThat(scenario.results().getLast().verdict()).isEmpty();
    }

    @Test
    void benignXidIsOnlyRecorded() {
        scenario.xid("gpu-0", 13);

        assertThat(scenario.state().revision()).isZero();
        assertThat(scenario.lastDecisions()).singleElement().satisfies(decision -> {
            assertThat(decision.outcome().status()).isEqualTo(Status.RECORDED);
            assertThat(decision.rule()).isEqualTo("test/xid-13");
            assertThat(decision.action()).contains("restart-app");
        });
    }

    @Test
    void suspectFaultLeavesTheDeviceTrusted() {
        scenario.xid("gpu-0", 63);

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Suspect.class);
        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().withdrawn()).isEmpty();
        assertThat(scenario.verdict().devices()).hasSize(1);
    }

    @Test
    void deviceFaultWithdrawsTheDeviceAndDoesNotTaintTheNode() {
        scenario.xid("gpu-0", 48);

        assertThat(scenario.health("gpu-0").trusted()).isFalse();
        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().health().state()).isEqualTo(HealthState.SUSPECT);
        long revision = scenario.verdict().revision();
        assertThat(revision).isEqualTo(scenario.now().toEpochMilli());
        assertThat(scenario.lastDecisions()).singleElement().satisfies(decision -> {
            assertThat(decision.outcome().status()).isEqualTo(Status.ACTED);
            assertThat(decision.action()).isEqualTo("withdraw device");
            assertThat(decision.revision()).isEqualTo(revision);
        });
    }

    @Test
    void nodeFaultTaintsTheNode() {
        scenario.xid("gpu-0", 79);

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid79");
        assertThat(scenario.verdict().health().recommendedAction()).isEqualTo(RecommendedAction.REBOOT);
        assertThat(scenario.lastDecisions())
                .extracting(Decision::action)
                .containsExactly("withdraw device", "taint node");
    }

    @Test
    void nodeWithoutTrustedDeviceIsTainted() {
        scenario.xid("gpu-0", 48).xid("gpu-1", 95);

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("AllGpusUnavailable");
    }

    @Test
    void unannouncedNodeIsNotTaintedForItsOneKnownDevice() {
        var unannounced = new NodeScenario(TestPolicies.standard()).xid("gpu-0", 48);

        assertThat(unannounced.verdict().trusted()).isTrue();
        assertThat(unannounced.announced("gpu-0", "gpu-1").verdict().trusted()).isTrue();
    }

    @Test
    void worstFaultIsTheReasonOfTheNode() {
        scenario.xid("gpu-0", 74).xid("gpu-1", 79);
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid79");

        scenario.xid("gpu-0", 54);
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid54");
        assertThat(scenario.verdict().health().recommendedAction()).isEqualTo(RecommendedAction.SUPPORT);
    }

    @Test
    void reasonIsStableWhileItsFaultIsOpen() {
        var threeGpus = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1", "gpu-2");
        threeGpus.xid("gpu-0", 95).xid("gpu-0", 48);
        assertThat(threeGpus.health("gpu-0").reason()).isEqualTo("Xid95");

        threeGpus.cleared("gpu-0", FaultCode.xid(95));
        assertThat(threeGpus.health("gpu-0").reason()).isEqualTo("Xid48");
    }

    @Test
    void recoveryActionRaisesTheFaultClass() {
        scenario.fault("gpu-0", FaultCode.xid(63), RecoveryAction.NODE_REBOOT);

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void clearedFaultRestoresTrust() {
        scenario.xid("gpu-0", 79).cleared("gpu-0", FaultCode.xid(79));

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.lastDecisions())
                .extracting(Decision::action)
                .containsExactly("trust device again", "remove taint");
    }

    @Test
    void snapshotWithoutAFaultEndsIt() {
        scenario.xid("gpu-0", 79).xid("gpu-1", 48).open(openXid("gpu-1", 48));

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.health("gpu-1").trusted()).isFalse();
    }

    @Test
    void snapshotOpensUnknownFault() {
        scenario.open(openXid("gpu-0", 79));

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void staleFaultIsRecordedAndNotActedUpon() {
        scenario.withAge(Duration.ofMinutes(11)).xid("gpu-0", 79);

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.health("gpu-0").trusted()).isTrue();
        assertThat(scenario.lastDecisions())
                .extracting(HealthMachineTest::status)
                .contains(Status.STALE);
    }

    @Test
    void staleFaultActsOnceItIsListedOpen() {
        scenario.withAge(Duration.ofMinutes(15)).xid("gpu-0", 79);
        scenario.withAge(Duration.ZERO).open(openXid("gpu-0", 79));

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void faultOfAnEarlierBootIsNotActedUpon() {
        scenario.withIncarnation(new DaemonIncarnation("boot-2", 2_000, false)).announced("gpu-0", "gpu-1");
        scenario.withIncarnation(NodeScenario.INCARNATION).xid("gpu-0", 79);

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.lastDecisions())
                .extracting(HealthMachineTest::status)
                .containsExactly(Status.STALE);
    }

    @Test
    void newBootEndsTheFaultsOfTheFormerOne() {
        scenario.xid("gpu-0", 79);
        scenario.withIncarnation(new DaemonIncarnation("boot-2", 2_000, false)).announced("gpu-0", "gpu-1");

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().bootId()).isEqualTo("boot-2");
    }

    @Test
    void newMachineUnderTheNameIsAcceptedWithLowerEpoch() {
        scenario.xid("gpu-0", 79);
        scenario.withIncarnation(new DaemonIncarnation("boot-x", 5, true)).announced("gpu-9");

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.state().devices()).containsOnlyKeys("gpu-9");
    }

    @Test
    void recoveryDwellOfThePolicyIsWaitedFor() {
        var withDwell =
                new NodeScenario(TestPolicies.withRecoveryDwell(Duration.ofMinutes(5))).announced("gpu-0", "gpu-1");
        withDwell.xid("gpu-0", 48).cleared("gpu-0", FaultCode.xid(48));
        assertThat(withDwell.health("gpu-0")).isInstanceOf(DeviceHealth.Recovering.class);
        assertThat(withDwell.health("gpu-0").trusted()).isFalse();

        withDwell.advance(Duration.ofMinutes(4)).tick();
        assertThat(withDwell.health("gpu-0").trusted()).isFalse();

        withDwell.advance(Duration.ofMinutes(1)).tick();
        assertThat(withDwell.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
        assertThat(withDwell.lastDecisions()).extracting(Decision::action).containsExactly("trust device again");
    }

    @Test
    void quarantinedDeviceComesBackByReleaseOnly() {
        scenario.command(Command.QUARANTINE, "gpu-0").xid("gpu-0", 48).cleared("gpu-0", FaultCode.xid(48));
        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Quarantined.class);
        assertThat(scenario.verdict().survivesBoot()).isTrue();

        scenario.command(Command.RELEASE, "gpu-0");
        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void deviceReleasedWithAnOpenFaultStaysOut() {
        scenario.command(Command.QUARANTINE, "gpu-0").xid("gpu-0", 48).command(Command.RELEASE, "gpu-0");

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Unhealthy.class);
    }

    @Test
    void retiredDeviceStaysOut() {
        scenario.command(Command.QUARANTINE, "gpu-0")
                .command(Command.RETIRE, "gpu-0")
                .command(Command.RELEASE, "gpu-0");

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Retired.class);
        assertThat(scenario.lastDecisions())
                .extracting(HealthMachineTest::status)
                .containsExactly(Status.RECORDED);
    }

    @Test
    void lostDeviceIsOutUntilItAnswers() {
        scenario.announcedLost("gpu-0", "gpu-1");
        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Lost.class);

        scenario.announced("gpu-0", "gpu-1");
        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void quarantinedNodeIsTaintedUntilReleased() {
        scenario.command(Command.QUARANTINE, "");
        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().state()).isEqualTo(HealthState.QUARANTINED);

        scenario.command(Command.RELEASE, "");
        assertThat(scenario.verdict().trusted()).isTrue();
    }

    @Test
    void nodeQuarantinedByHandWithdrawsEveryDeviceUntilReleased() {
        scenario.command(Command.QUARANTINE, "");
        assertThat(scenario.verdict().withdrawsEveryDevice()).isTrue();

        scenario.command(Command.RELEASE, "");
        assertThat(scenario.verdict().withdrawsEveryDevice()).isFalse();
    }

    @Test
    void faultOfTheWholeNodeWithdrawsEveryDevice() {
        scenario.fault("", FaultCode.of(FaultKind.DRIVER), RecoveryAction.UNSPECIFIED);

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().withdrawsEveryDevice()).isTrue();
    }

    @Test
    void taintForOneGpuWithdrawsNoOtherDevice() {
        scenario.xid("gpu-0", 79);
        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().withdrawsEveryDevice()).isFalse();

        // An XID of a GPU that the driver never listed
        scenario.xid("", 79);
        assertThat(scenario.verdict().withdrawsEveryDevice()).isFalse();
    }

    @Test
    void missingGpuIsKnownAndNeitherTaintsNorWithdraws() {
        scenario.fault("", FaultCode.of(FaultKind.GPU_MISSING), RecoveryAction.UNSPECIFIED);

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().health().state()).isEqualTo(HealthState.SUSPECT);
        assertThat(scenario.verdict().withdrawsEveryDevice()).isFalse();
    }

    @Test
    void manualOverrideKeepsTheDevicesOfAFaultyNode() {
        scenario.fault("", FaultCode.of(FaultKind.DRIVER), RecoveryAction.UNSPECIFIED)
                .taintRemoved();

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().withdrawsEveryDevice()).isFalse();
    }

    @Test
    void manualOverrideHoldsForTheEpisode() {
        scenario.xid("gpu-0", 79).taintRemoved();
        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().health().state()).isEqualTo(HealthState.UNHEALTHY);
        assertThat(scenario.lastDecisions())
                .extracting(HealthMachineTest::status)
                .containsExactly(Status.OVERRIDDEN);

        scenario.xid("gpu-0", 79);
        assertThat(scenario.verdict().trusted()).isTrue();

        scenario.xid("gpu-1", 54);
        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void manualOverrideHoldsForADayAtMost() {
        scenario.xid("gpu-0", 79).taintRemoved();

        scenario.advance(Duration.ofHours(24)).tick();

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void nodeWithNewUidIsTaintedAgain() {
        scenario.nodeObserved("uid-1").xid("gpu-0", 79).taintRemoved();

        scenario.nodeObserved("uid-2");

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().node().uid()).isEqualTo("uid-2");
    }

    @Test
    void devicesBeyondTheLimitAreIgnored() {
        for (int i = 0; i < 2 * HealthMachine.MAX_DEVICES; i++) {
            scenario.xid("made-up-" + i, 48);
        }

        assertThat(scenario.state().devices()).hasSize(HealthMachine.MAX_DEVICES);
    }

    @Test
    void repeatedFaultIsCountedAndPublishesNoSecondVerdict() {
        scenario.xid("gpu-0", 48);
        long revision = scenario.state().revision();
        scenario.xid("gpu-0", 48);

        assertThat(scenario.state().revision()).isEqualTo(revision);
        assertThat(scenario.lastDecisions()).isEmpty();
        assertThat(scenario.state().episodesOf("gpu-0").values())
                .extracting(Episode::observations)
                .containsExactly(2L);
    }
}
