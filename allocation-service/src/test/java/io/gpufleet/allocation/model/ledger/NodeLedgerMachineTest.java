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
    @DisplayName("case 7: lost node ends its intervals with estimated end")
    void lostNodeEndsItsIntervalsWithEstimatedEnd() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(new LedgerFact.MachineGone(at(400), IntervalEndReason.NODE_LOST));
        // Then
        assertThat(node.closed()).singleElement().satisfies(closed -> {
            assertThat(closed.endEstimated()).isTrue();
            assertThat(closed.reason()).isEqualTo(IntervalEndReason.NODE_LOST);
            assertThat(closed.gpuMillis()).isEqualTo(400_000);
        });
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
