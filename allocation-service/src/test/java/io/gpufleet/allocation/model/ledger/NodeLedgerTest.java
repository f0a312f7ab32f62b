package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.holding;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.podFinished;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Intervals of a correct ledger, by pods; the display names carry the numbers of the README. */
class NodeLedgerTest {
    private final TestNodeLedger node = new TestNodeLedger();

    @Test
    @DisplayName("case 1: pod with reused name and new UID opens new interval")
    void podWithReusedNameAndNewUidOpensNewInterval() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("web-0", "u1", "g0")));
        // When
        node.fold(node.allocated(10, "g0"), node.held(11, holding("web-0", "u2", "g0")));
        node.fold(node.held(20));
        // Then
        assertThat(node.closed())
                .extracting(closed -> closed.holding().holder().podUid())
                .containsExactly("u1", "u2");
        assertThat(node.closed()).extracting(ClosedUsageInterval::gpuMillis).containsExactly(10_000L, 10_000L);
        assertThat(node.closed().getFirst().reason()).isEqualTo(IntervalEndReason.UID_CHANGED);
    }

    @Test
    @DisplayName("case 1: UID learned later keeps interval ID")
    void uidLearnedLaterKeepsIntervalId() {
        // Given
        node.fold(node.held(0, holding("web-0", "", "g0")));
        String id = node.onlyOpenInterval().id();
        // When
        node.fold(node.held(5, holding("web-0", "u1", "g0")));
        // Then
        OpenUsageInterval open = node.onlyOpenInterval();
        assertThat(open.id()).isEqualTo(id);
        assertThat(open.holding().holder().podUid()).isEqualTo("u1");
        assertThat(node.published()).isEmpty();
    }

    @Test
    @DisplayName("case 2: same log gives same state and same IDs")
    void sameLogGivesSameStateAndSameIds() {
        // Given
        List<LedgerFact> log = List.of(
                node.allocated(0, "g0", "g1"),
                node.held(1, holding("a", "u1", "g0"), holding("a", "u1", "g1")),
                podFinished("a", "u1", 9),
                node.held(10));
        TestNodeLedger first = new TestNodeLedger().fold(log.toArray(LedgerFact[]::new));
        // When
        TestNodeLedger again = new TestNodeLedger().fold(log.toArray(LedgerFact[]::new));
        // Then
        assertThat(again.ledger()).isEqualTo(first.ledger());
        assertThat(again.published()).isEqualTo(first.published());
    }

    @Test
    @DisplayName("case 2: duplicate fact changes nothing")
    void duplicateFactChangesNothing() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")), podFinished("a", "u1", 9));
        NodeLedger before = node.ledger();
        // When
        node.fold(podFinished("a", "u1", 9), podFinished("a", "u1", 9));
        // Then
        assertThat(node.ledger()).isEqualTo(before);
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 9_000L));
    }

    @Test
    @DisplayName("case 3: finish reported after release is published as adjustment")
    void finishReportedAfterReleaseIsPublishedAsAdjustment() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")), node.held(12));
        assertThat(node.closed().getFirst().endEstimated()).isTrue();
        // When
        node.fold(podFinished("a", "u1", 9));
        // Then
        assertThat(node.adjusted()).hasSize(1);
        UsageEntry.Adjusted adjusted = node.adjusted().getFirst();
        assertThat(adjusted.id()).isEqualTo(node.closed().getFirst().id() + "/1");
        assertThat(adjusted.gpuMillis()).isEqualTo(-3_000);
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 9_000L));
    }

    @Test
    @DisplayName("case 3: finish reported before holder is seen ends interval exactly")
    void finishReportedBeforeHolderIsSeenEndsIntervalExactly() {
        // Given
        node.fold(node.allocated(0, "g0"), podFinished("a", "u1", 9));
        // When
        node.fold(node.held(2, holding("a", "u1", "g0")), node.held(12));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 9_000L));
        assertThat(node.adjusted()).isEmpty();
        assertThat(node.closed().getFirst().endEstimated()).isFalse();
    }

    @Test
    @DisplayName("case 5: pod deleted unseen ends at first snapshot without it")
    void podDeletedUnseenEndsAtFirstSnapshotWithoutIt() {
        // Given
        node.fold(node.held(0, holding("a", "u1", "g0")));
        // When
        node.fold(node.held(100));
        // Then
        ClosedUsageInterval closed = node.closed().getFirst();
        assertThat(closed.to()).isEqualTo(at(100));
        assertThat(closed.endEstimated()).isTrue();
    }

    @Test
    @DisplayName("case 6: force-deleted pod holds its device until snapshot without it")
    void forceDeletedPodHoldsItsDeviceUntilSnapshotWithoutIt() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(node.held(30, holding("a", "u1", "g0")));
        // Then
        assertThat(node.ledger().open()).hasSize(1);
        assertThat(node.published()).isEmpty();
    }

    @Test
    @DisplayName("case 9: allocate without holder within one minute counts zero")
    void allocateWithoutHolderWithinOneMinuteCountsZero() {
        // Given
        node.fold(node.allocated(0, "g0"));
        // When
        node.fold(node.held(61), node.held(200, holding("b", "u2", "g0")), node.held(210));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("b", 10_000L));
        assertThat(node.ledger().pending()).isEmpty();
    }

    @Test
    @DisplayName("case 10: app container taking over from init container counts once")
    void appContainerTakingOverFromInitContainerCountsOnce() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "init", "g0", 1)));
        // When
        node.fold(
                node.held(20, holding("a", "u1", "init", "g0", 1), holding("a", "u1", "main", "g0", 1)),
                node.held(30, holding("a", "u1", "main", "g0", 1)),
                podFinished("a", "u1", 50),
                node.held(51));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 50_000L));
    }

    @Test
    @DisplayName("case 11: terminal pod still listed holds nothing")
    void terminalPodStillListedHoldsNothing() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")), podFinished("a", "u1", 9));
        // When
        node.fold(node.held(10, holding("a", "u1", "g0")), node.held(30_000, holding("a", "u1", "g0")));
        node.fold(node.held(60_000, holding("a", "u1", "g0")));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 9_000L));
        assertThat(node.ledger().open()).isEmpty();
        assertThat(node.closed()).hasSize(1);
    }

    @Test
    @DisplayName("case 20: pod shorter than snapshot period counts from allocate to its end")
    void podShorterThanSnapshotPeriodCountsFromAllocateToItsEnd() {
        // Given
        node.fold(node.allocated(0.2, "g0"));
        // When
        node.fold(node.held(0.7, holding("a", "u1", "g0")), podFinished("a", "u1", 3), node.held(4));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 3_000L));
    }

    @Test
    void containerRestartEndsNothing() {
        // Given
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(node.held(10, holding("a", "u1", "g0")), node.held(20, holding("a", "u1", "g0")));
        // Then
        assertThat(node.published()).isEmpty();
    }

    @Test
    void missedSnapshotIsHealedByTheNext() {
        // Given the snapshots in which a went and b came were lost, the Allocate was not
        node.fold(node.allocated(0, "g0"), node.held(1, holding("a", "u1", "g0")));
        // When
        node.fold(node.allocated(50, "g0"), node.held(70, holding("b", "u2", "g0")), node.held(80));
        // Then
        assertThat(node.millisByPod()).isEqualTo(Map.of("a", 50_000L, "b", 30_000L));
    }
}
