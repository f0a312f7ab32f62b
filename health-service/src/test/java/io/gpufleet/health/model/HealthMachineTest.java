package io.gpufleet.health.model;

import static io.gpufleet.health.model.Story.openXid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.Decision.Outcome;
import io.gpufleet.health.model.HealthSignal.Speaker;
import io.gpufleet.health.model.HealthSignal.Word;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class HealthMachineTest {
    private final Story story = new Story(Policies.standard()).announced("gpu-0", "gpu-1");

    @Test
    void aHealthyNodeHasNoVerdict() {
        assertThat(story.state().revision()).isZero();
        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.verdict().devices()).isEmpty();
    }

    @Test
    void aBenignXidIsOnlyRecorded() {
        story.xid("gpu-0", 13);

        assertThat(story.state().revision()).isZero();
        assertThat(story.lastDecisions()).singleElement().satisfies(decision -> {
            assertThat(decision.outcome()).isEqualTo(Outcome.RECORDED);
            assertThat(decision.rule()).isEqualTo("test/xid-13");
            assertThat(decision.action()).contains("restart-app");
        });
    }

    @Test
    void aSignThatIsNotEnoughLeavesTheDeviceTrusted() {
        story.xid("gpu-0", 63);

        assertThat(story.health("gpu-0")).isInstanceOf(DeviceHealth.Suspect.class);
        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.verdict().withdrawn()).isEmpty();
        assertThat(story.verdict().devices()).hasSize(1);
    }

    @Test
    void aDeviceFaultWithdrawsTheDeviceAndNotTheNode() {
        story.xid("gpu-0", 48);

        assertThat(story.health("gpu-0").trusted()).isFalse();
        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.verdict().standing().state()).isEqualTo(HealthState.SUSPECT);
        assertThat(story.verdict().revision()).isEqualTo(1);
        assertThat(story.lastDecisions()).singleElement().satisfies(decision -> {
            assertThat(decision.outcome()).isEqualTo(Outcome.ACTED);
            assertThat(decision.action()).isEqualTo("withdraw device");
            assertThat(decision.revision()).isEqualTo(1);
        });
    }

    @Test
    void aNodeFaultMarksTheNode() {
        story.xid("gpu-0", 79);

        assertThat(story.verdict().trusted()).isFalse();
        assertThat(story.verdict().standing().reason()).isEqualTo("Xid79");
        assertThat(story.verdict().standing().step()).isEqualTo(NextStep.REBOOT);
        assertThat(story.lastDecisions()).extracting(Decision::action).containsExactly("withdraw device", "taint node");
    }

    @Test
    void aNodeOfWhichNoDeviceIsLeftIsMarked() {
        story.xid("gpu-0", 48).xid("gpu-1", 95);

        assertThat(story.verdict().trusted()).isFalse();
        assertThat(story.verdict().standing().reason()).isEqualTo("AllGpusOut");
    }

    @Test
    void aNodeThatWasNotAnnouncedYetIsNotMarkedForItsOneKnownDevice() {
        var unannounced = new Story(Policies.standard()).xid("gpu-0", 48);

        assertThat(unannounced.verdict().trusted()).isTrue();
        assertThat(unannounced.announced("gpu-0", "gpu-1").verdict().trusted()).isTrue();
    }

    @Test
    void theWorstFaultNamesTheNodesReason() {
        story.xid("gpu-0", 74).xid("gpu-1", 79);
        assertThat(story.verdict().standing().reason()).isEqualTo("Xid79");

        story.xid("gpu-0", 54);
        assertThat(story.verdict().standing().reason()).isEqualTo("Xid54");
        assertThat(story.verdict().standing().step()).isEqualTo(NextStep.SUPPORT);
    }

    @Test
    void aReasonIsStableWhileItIsOpen() {
        var twoOfAKind = new Story(Policies.standard()).announced("gpu-0", "gpu-1", "gpu-2");
        twoOfAKind.xid("gpu-0", 95).xid("gpu-0", 48);
        assertThat(twoOfAKind.health("gpu-0").reason()).isEqualTo("Xid95");

        twoOfAKind.cleared("gpu-0", FaultCode.xid(95));
        assertThat(twoOfAKind.health("gpu-0").reason()).isEqualTo("Xid48");
    }

    @Test
    void whatTheDriverAsksForMakesAFaultWorse() {
        story.fault("gpu-0", FaultCode.xid(63), RecoveryAction.NODE_REBOOT);

        assertThat(story.verdict().trusted()).isFalse();
    }

    @Test
    void aClearedFaultRestoresTrust() {
        story.xid("gpu-0", 79).cleared("gpu-0", FaultCode.xid(79));

        assertThat(story.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.verdict().revision()).isEqualTo(2);
        assertThat(story.lastDecisions())
                .extracting(Decision::action)
                .containsExactly("trust device again", "remove taint");
    }

    @Test
    void aSnapshotWithoutAFaultEndsIt() {
        story.xid("gpu-0", 79).xid("gpu-1", 48).open(openXid("gpu-1", 48));

        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.health("gpu-1").trusted()).isFalse();
    }

    @Test
    void aSnapshotOpensWhatWasNotHeardOf() {
        story.open(openXid("gpu-0", 79));

        assertThat(story.verdict().trusted()).isFalse();
    }

    @Test
    void oldNewsIsRecordedAndNotActedUpon() {
        story.aged(Duration.ofMinutes(11)).xid("gpu-0", 79);

        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.health("gpu-0").trusted()).isTrue();
        assertThat(story.lastDecisions()).extracting(Decision::outcome).contains(Outcome.STALE);
    }

    @Test
    void aFaultThatOutlivedAnOutageActsOnceItIsListedOpen() {
        story.aged(Duration.ofMinutes(15)).xid("gpu-0", 79);
        story.aged(Duration.ZERO).open(openXid("gpu-0", 79));

        assertThat(story.verdict().trusted()).isFalse();
    }

    @Test
    void newsOfAnEarlierBootAreNotActedUpon() {
        story.from(new Speaker("boot-2", 2_000, false)).announced("gpu-0", "gpu-1");
        story.from(Story.BOOT).xid("gpu-0", 79);

        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.lastDecisions()).extracting(Decision::outcome).containsExactly(Outcome.STALE);
    }

    @Test
    void aNewBootEndsTheFaultsOfTheOldOne() {
        story.xid("gpu-0", 79);
        story.from(new Speaker("boot-2", 2_000, false)).announced("gpu-0", "gpu-1");

        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.verdict().bootId()).isEqualTo("boot-2");
    }

    @Test
    void anotherMachineUnderTheNameIsHeardThoughItsEpochIsLower() {
        story.xid("gpu-0", 79);
        story.from(new Speaker("boot-x", 5, true)).announced("gpu-9");

        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.state().device("gpu-0")).isEmpty();
    }

    @Test
    void probationIsAsLongAsThePolicySays() {
        var patient = new Story(Policies.with(Duration.ofMinutes(5))).announced("gpu-0", "gpu-1");
        patient.xid("gpu-0", 48).cleared("gpu-0", FaultCode.xid(48));
        assertThat(patient.health("gpu-0")).isInstanceOf(DeviceHealth.Recovering.class);
        assertThat(patient.health("gpu-0").trusted()).isFalse();

        patient.after(Duration.ofMinutes(4)).tick();
        assertThat(patient.health("gpu-0").trusted()).isFalse();

        patient.after(Duration.ofMinutes(1)).tick();
        assertThat(patient.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
        assertThat(patient.lastDecisions()).extracting(Decision::action).containsExactly("trust device again");
    }

    @Test
    void aQuarantinedDeviceComesBackByHandOnly() {
        story.spoke(Word.QUARANTINE, "gpu-0").xid("gpu-0", 48).cleared("gpu-0", FaultCode.xid(48));
        assertThat(story.health("gpu-0")).isInstanceOf(DeviceHealth.Quarantined.class);
        assertThat(story.verdict().survivesBoot()).isTrue();

        story.spoke(Word.RELEASE, "gpu-0");
        assertThat(story.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void aDeviceReleasedWithAnOpenFaultStaysOut() {
        story.spoke(Word.QUARANTINE, "gpu-0").xid("gpu-0", 48).spoke(Word.RELEASE, "gpu-0");

        assertThat(story.health("gpu-0")).isInstanceOf(DeviceHealth.Unhealthy.class);
    }

    @Test
    void aRetiredDeviceNeverComesBack() {
        story.spoke(Word.QUARANTINE, "gpu-0").spoke(Word.RETIRE, "gpu-0").spoke(Word.RELEASE, "gpu-0");

        assertThat(story.health("gpu-0")).isInstanceOf(DeviceHealth.Retired.class);
        assertThat(story.lastDecisions()).extracting(Decision::outcome).containsExactly(Outcome.RECORDED);
    }

    @Test
    void aLostDeviceIsOutUntilItIsFound() {
        story.announcedLost("gpu-0", "gpu-1");
        assertThat(story.health("gpu-0")).isInstanceOf(DeviceHealth.Lost.class);

        story.announced("gpu-0", "gpu-1");
        assertThat(story.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void aQuarantinedNodeIsMarkedUntilItIsReleased() {
        story.spoke(Word.QUARANTINE, "");
        assertThat(story.verdict().trusted()).isFalse();
        assertThat(story.verdict().standing().state()).isEqualTo(HealthState.QUARANTINED);

        story.spoke(Word.RELEASE, "");
        assertThat(story.verdict().trusted()).isTrue();
    }

    @Test
    void anOperatorsHandHoldsForTheEpisode() {
        story.xid("gpu-0", 79).taintRemoved();
        assertThat(story.verdict().trusted()).isTrue();
        assertThat(story.verdict().standing().state()).isEqualTo(HealthState.UNHEALTHY);
        assertThat(story.lastDecisions()).extracting(Decision::outcome).containsExactly(Outcome.OVERRIDDEN);

        story.xid("gpu-0", 79);
        assertThat(story.verdict().trusted()).isTrue();

        story.xid("gpu-1", 54);
        assertThat(story.verdict().trusted()).isFalse();
    }

    @Test
    void anOperatorsHandHoldsForADayAtMost() {
        story.xid("gpu-0", 79).taintRemoved();

        story.after(Duration.ofHours(24)).tick();

        assertThat(story.verdict().trusted()).isFalse();
    }

    @Test
    void anotherNodeObjectOfTheNameIsMarkedAgain() {
        story.nodeObject("uid-1").xid("gpu-0", 79).taintRemoved();

        story.nodeObject("uid-2");

        assertThat(story.verdict().trusted()).isFalse();
        assertThat(story.verdict().nodeUid()).isEqualTo("uid-2");
    }

    @Test
    void aNodeThatTellsOfEndlessDevicesIsNotBelieved() {
        for (int i = 0; i < 2 * HealthMachine.MOST_DEVICES; i++) {
            story.xid("made-up-" + i, 48);
        }

        assertThat(story.state().devices()).hasSize(HealthMachine.MOST_DEVICES);
    }

    @Test
    void aRepeatedFaultIsCountedAndReachesNoSecondVerdict() {
        story.xid("gpu-0", 48).xid("gpu-0", 48);

        assertThat(story.state().revision()).isEqualTo(1);
        assertThat(story.lastDecisions()).isEmpty();
        assertThat(story.state().episodesOf("gpu-0").values())
                .extracting(Episode::observations)
                .containsExactly(2L);
    }
}
