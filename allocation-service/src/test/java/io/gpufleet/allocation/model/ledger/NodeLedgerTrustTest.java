package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.holding;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.podFinished;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Time on devices that are not trusted. */
class NodeLedgerTrustTest {
    private final TestNodeLedger node = new TestNodeLedger();

    @Test
    @DisplayName("case 8: trust change is converted from log clock to node clock")
    void trustChangeIsConvertedFromLogClockToNodeClock() {
        // Given a node whose clock is two hours ahead
        var ahead = new LedgerFact.HoldingsSnapshot(
                TestNodeLedger.BOOT,
                List.of(holding("a", "u1", "g0")),
                true,
                at(7_200),
                at(0),
                7_200_000,
                new EventSequence(1, 1));
        node.fold(ahead);
        // When
        node.fold(new LedgerFact.TrustChanged(Map.of("g0", at(60)), at(60)), podFinished("a", "u1", 7_300));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(60_000);
        assertThat(node.millis(IntervalQuality.ALLOCATED_WHILE_FAULTY)).isEqualTo(40_000);
    }

    @Test
    void timeOnFaultyDeviceIsSplitOffUntilTheFaultEnds() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(
                new LedgerFact.TrustChanged(Map.of("g0", at(10)), at(10)),
                new LedgerFact.TrustChanged(Map.of(), at(25)),
                podFinished("a", "u1", 30));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(15_000);
        assertThat(node.millis(IntervalQuality.ALLOCATED_WHILE_FAULTY)).isEqualTo(15_000);
    }

    @Test
    void faultReportedAfterReleaseSplitsOffFaultyTime() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")), podFinished("a", "u1", 30));
        // When
        node.fold(new LedgerFact.TrustChanged(Map.of("g0", at(10)), at(31)));
        node.fold(new LedgerFact.TrustChanged(Map.of("g0", at(10)), at(32)));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(10_000);
        assertThat(node.millis(IntervalQuality.ALLOCATED_WHILE_FAULTY)).isEqualTo(20_000);
    }

    @Test
    void trustChangeReportedBeforeEarlierReleaseAddsNoTime() {
        // Given trust that was lost and regained, reported before the daemon's snapshot of 30.9 s arrives
        node.fold(node.allocated(10, "g0"), node.held(10.5, holding("a", "u1", "g0")));
        node.fold(
                new LedgerFact.TrustChanged(Map.of("g0", at(20)), at(21)),
                new LedgerFact.TrustChanged(Map.of(), at(40)));
        // When
        node.fold(node.held(30.9));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(10_000);
        assertThat(node.millis(IntervalQuality.ALLOCATED_WHILE_FAULTY)).isEqualTo(10_000);
        // When the true end is a little earlier
        node.fold(podFinished("a", "u1", 29));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 19_000L));
    }

    @Test
    void distrustOfTheNodeIsThatOfEveryDevice() {
        // Given
        node.fold(node.held(0, holding("a", "u1", "g0"), holding("b", "u2", "g1")));
        // When the node is distrusted from 10 to 40, and g0 besides from 20 to 30
        var whole = LedgerFact.TrustChanged.EVERY_DEVICE;
        node.fold(
                new LedgerFact.TrustChanged(Map.of(whole, at(10)), at(11)),
                new LedgerFact.TrustChanged(Map.of(whole, at(10), "g0", at(20)), at(20)),
                new LedgerFact.TrustChanged(Map.of(whole, at(10)), at(30)),
                new LedgerFact.TrustChanged(Map.of(), at(40)),
                podFinished("a", "u1", 50),
                podFinished("b", "u2", 50));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(40_000);
        assertThat(node.millis(IntervalQuality.ALLOCATED_WHILE_FAULTY)).isEqualTo(60_000);
    }

    @Test
    void distrustOfTheNodeThatIsReportedAfterTheReleaseIsRefundableToo() {
        // Given
        node.fold(node.held(0, holding("a", "u1", "g0")), podFinished("a", "u1", 30));
        // When
        node.fold(new LedgerFact.TrustChanged(Map.of(LedgerFact.TrustChanged.EVERY_DEVICE, at(10)), at(31)));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED)).isEqualTo(10_000);
        assertThat(node.millis(IntervalQuality.ALLOCATED_WHILE_FAULTY)).isEqualTo(20_000);
    }

    @Test
    void faultOfGpuAppliesToItsMigDevices() {
        // Given
        node.fold(
                new LedgerFact.GpusAnnounced(new AnnouncedGpus(
                        List.of(new GpuModel("NVIDIA A100", "A100", 1)), new TreeSet<>(), Map.of("MIG-1", "g0"))),
                node.held(0, holding("a", "u1", "MIG-1")));
        // When
        node.fold(new LedgerFact.TrustChanged(Map.of("g0", at(10)), at(10)), podFinished("a", "u1", 30));
        // Then
        assertThat(node.millis(IntervalQuality.ALLOCATED_WHILE_FAULTY)).isEqualTo(20_000);
    }
}
