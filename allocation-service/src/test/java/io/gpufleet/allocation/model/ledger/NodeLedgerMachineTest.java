package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.holding;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.podFinished;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Intervals of a machine that is lost, reboots, is replaced, or changes its clock. */
class NodeLedgerMachineTest {
    private final TestNodeLedger node = new TestNodeLedger();

    @Test
    @DisplayName("case 7: lost node ends its intervals at the last word of its daemon, estimated")
    void lostNodeEndsItsIntervalsAtTheLastWordOfItsDaemon() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        node.fold(new LedgerFact.DaemonHeard(at(400)));
        // When its object is deleted on Monday
        node.fold(new LedgerFact.MachineGone(at(200_000), IntervalEndReason.NODE_LOST));
        // Then
        assertThat(node.closed().getFirst()).satisfies(closed -> {
            assertThat(closed.endEstimated()).isTrue();
            assertThat(closed.reason()).isEqualTo(IntervalEndReason.NODE_LOST);
            assertThat(closed.gpuMillis()).isEqualTo(400_000);
        });
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(400_000);
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isEqualTo(199_600_000);
        assertThat(node.ledger().open()).isEmpty();
    }

    @Test
    @DisplayName("case 7: silent daemon ends its intervals although nobody deletes the node")
    void silentDaemonEndsItsIntervals() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(new LedgerFact.DaemonSilent(at(400)));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 400_000L));
        assertThat(node.ledger().vouched()).isFalse();
        assertThat(node.onlyOpenInterval().quality()).isEqualTo(IntervalQuality.UNREACHABLE);
        assertThat(node.onlyOpenInterval().from()).isEqualTo(at(400));
        // When it is silent on
        node.fold(new LedgerFact.DaemonSilent(at(400)));
        // Then
        assertThat(node.published()).hasSize(1);
    }

    @Test
    @DisplayName("case 7: daemon that was cut off for days proves what it held")
    void daemonThatWasCutOffForDaysProvesWhatItHeld() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0"), holding("b", "u2", "g1")));
        node.fold(new LedgerFact.DaemonSilent(at(400)));
        // When one pod ended meanwhile, and the other is still there
        node.fold(podFinished("a", "u1", 100_000), node.held(200_000, holding("b", "u2", "g1")));
        node.fold(podFinished("b", "u2", 200_100), node.held(200_101));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 100_000_000L, "b", 200_099_000L));
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isZero();
    }

    @Test
    @DisplayName("case 7: what a silent daemon turns out not to hold was unreachable, and is not billed")
    void holderThatIsGoneWhenTheDaemonReturnsWasUnreachable() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        node.fold(new LedgerFact.DaemonSilent(at(400)));
        // When
        node.fold(node.held(2_000));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(400_000);
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isEqualTo(1_600_000);
        // When its pod turns out to have run until 900
        node.fold(podFinished("a", "u1", 900));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(900_000);
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isZero();
    }

    @Test
    @DisplayName("case 7: proof after the deletion of the node takes the unreachable time back")
    void proofAfterTheDeletionTakesTheUnreachableTimeBack() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        node.fold(new LedgerFact.DaemonSilent(at(400)));
        node.fold(new LedgerFact.MachineGone(at(1_000), IntervalEndReason.NODE_LOST));
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isEqualTo(600_000);
        // When
        node.fold(node.held(2_000, holding("a", "u1", "g0")), podFinished("a", "u1", 2_100));
        // Then
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isZero();
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(2_100_000);
        assertThat(node.adjusted())
                .singleElement()
                .satisfies(adjusted -> assertThat(adjusted.gpuMillis()).isEqualTo(-600_000));
    }

    @Test
    @DisplayName("case 7: replacement of a dead machine proves nothing of it")
    void replacementOfADeadMachineProvesNothingOfIt() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "", "g0")));
        node.fold(new LedgerFact.DaemonSilent(at(400)));
        // When
        node.fold(new LedgerFact.MachineGone(at(1_000), IntervalEndReason.MACHINE_REPLACED));
        node.fold(node.heldAfterBoot("boot-2", 1_001, true, holding("a", "", "g0")));
        node.fold(node.heldAfterBoot("boot-2", 1_100, true));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(400_000 + 99_000);
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isEqualTo(600_000);
    }

    @Test
    @DisplayName("case 7: dead machine that boots on Monday with the same pods is not billed for the weekend")
    void deadMachineThatBootsWithTheSamePodsIsNotBilledForTheTimeBetween() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        node.fold(new LedgerFact.DaemonSilent(at(400)));
        // When
        node.fold(node.heldAfterBoot("boot-2", 200_000, true, holding("a", "u1", "g0")));
        node.fold(podFinished("a", "u1", 200_100));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(500_000);
        assertThat(node.millis(IntervalQuality.UNREACHABLE)).isEqualTo(199_600_000);
    }

    @Test
    @DisplayName("case 7: distrust that follows the last word moves nothing out of the unreachable time")
    void distrustAfterTheLastWordIsUnreachableTime() {
        // Given a node that died at 400, which cost its device the trust at 460
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        node.fold(new LedgerFact.TrustChanged(Map.of("g0", at(460)), at(460)));
        // When
        node.fold(new LedgerFact.DaemonSilent(at(400)));
        // Then
        assertThat(node.onlyOpenInterval().from()).isEqualTo(at(400));
        // When the daemon was cut off only
        node.fold(node.held(1_000, holding("a", "u1", "g0")), podFinished("a", "u1", 1_100));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(460_000);
        assertThat(node.millis(IntervalQuality.ALLOCATED_WHILE_FAULTY)).isEqualTo(640_000);
    }

    @Test
    @DisplayName("case 7: recreated node object loses no second")
    void recreatedNodeObjectLosesNoSecond() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        node.fold(new LedgerFact.MachineGone(at(400), IntervalEndReason.NODE_LOST));
        // When
        node.fold(node.held(430, holding("a", "u1", "g0")), podFinished("a", "u1", 500), node.held(501));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 500_000L));
    }

    @Test
    @DisplayName("case 7: reboot ends intervals of former boot")
    void rebootEndsIntervalsOfFormerBoot() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(node.heldAfterBoot("boot-2", 300, true));
        // Then
        assertThat(node.closed().getFirst().reason()).isEqualTo(IntervalEndReason.NODE_REBOOTED);
        assertThat(node.ledger().open()).isEmpty();
    }

    @Test
    @DisplayName("case 8: clock set back gives empty interval instead of negative one")
    void clockSetBackGivesEmptyIntervalInsteadOfNegativeOne() {
        // Given
        node.fold(node.held(7_200, holding("a", "u1", "g0")));
        // When
        node.fold(node.held(10));
        // Then
        assertThat(node.closed().getFirst().gpuMillis()).isZero();
        assertThat(node.closed().getFirst().to())
                .isEqualTo(node.closed().getFirst().from());
    }

    @Test
    @DisplayName("case 12: kubelet restart releases nothing")
    void kubeletRestartReleasesNothing() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(node.heldAfterBoot(TestNodeLedger.BOOT, 10, false), node.held(12, holding("a", "u1", "g0")));
        // Then
        assertThat(node.published()).isEmpty();
        assertThat(node.ledger().open()).hasSize(1);
    }

    @Test
    void replacementMachineInheritsNoIntervals() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(
                new LedgerFact.MachineGone(at(100), IntervalEndReason.MACHINE_REPLACED),
                node.heldAfterBoot("boot-9", 100, true, holding("a", "u1", "g0")));
        // Then
        assertThat(node.closed().getFirst().reason()).isEqualTo(IntervalEndReason.MACHINE_REPLACED);
        assertThat(node.ledger().open().values())
                .singleElement()
                .satisfies(open -> assertThat(open.from()).isEqualTo(at(100)));
    }
}
