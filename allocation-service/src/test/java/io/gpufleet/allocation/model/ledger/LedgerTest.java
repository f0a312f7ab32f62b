package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.Scene.at;
import static io.gpufleet.allocation.model.ledger.Scene.ended;
import static io.gpufleet.allocation.model.ledger.Scene.holding;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The cases that a ledger has to get right, each by the number that the README gives it. */
class LedgerTest {
    private final Scene scene = new Scene();

    @Test
    void case1_aPodOfTheSameNameAndAnotherUidIsAnotherInterval() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("web-0", "u1", "g0")));
        // When
        scene.fold(scene.allocated(10, "g0"), scene.held(11, holding("web-0", "u2", "g0")));
        scene.fold(scene.held(20));
        // Then
        assertThat(scene.closed())
                .extracting(closed -> closed.holding().holder().podUid())
                .containsExactly("u1", "u2");
        assertThat(scene.closed()).extracting(ClosedInterval::gpuMillis).containsExactly(10_000L, 10_000L);
        assertThat(scene.closed().getFirst().reason()).isEqualTo(EndReason.UID_CHANGED);
    }

    @Test
    void case1_aUidThatBecomesKnownIsAnAttributeAndChangesNoId() {
        // Given
        scene.fold(scene.held(0, holding("web-0", "", "g0")));
        String id = scene.theOpen().id();
        // When
        scene.fold(scene.held(5, holding("web-0", "u1", "g0")));
        // Then
        OpenInterval open = scene.theOpen();
        assertThat(open.id()).isEqualTo(id);
        assertThat(open.holding().holder().podUid()).isEqualTo("u1");
        assertThat(scene.published()).isEmpty();
    }

    @Test
    void case2_theSameLogGivesTheSameStateAndTheSameIds() {
        // Given
        List<LedgerFact> log = List.of(
                scene.allocated(0, "g0", "g1"),
                scene.held(1, holding("a", "u1", "g0"), holding("a", "u1", "g1")),
                ended("a", "u1", 9),
                scene.held(10));
        Scene first = new Scene().fold(log.toArray(LedgerFact[]::new));
        // When
        Scene again = new Scene().fold(log.toArray(LedgerFact[]::new));
        // Then
        assertThat(again.ledger()).isEqualTo(first.ledger());
        assertThat(again.published()).isEqualTo(first.published());
    }

    @Test
    void case2_aFactToldTwiceChangesNothing() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")), ended("a", "u1", 9));
        NodeLedger before = scene.ledger();
        // When
        scene.fold(ended("a", "u1", 9), ended("a", "u1", 9));
        // Then
        assertThat(scene.ledger()).isEqualTo(before);
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 9_000L));
    }

    @Test
    void case3_anEndThatIsToldAfterTheReleaseIsAnAdjustmentAndNoEdit() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")), scene.held(12));
        assertThat(scene.closed().getFirst().estimated()).isTrue();
        // When
        scene.fold(ended("a", "u1", 9));
        // Then
        assertThat(scene.adjusted()).hasSize(1);
        UsageEntry.Adjusted adjusted = scene.adjusted().getFirst();
        assertThat(adjusted.id()).isEqualTo(scene.closed().getFirst().id() + "/1");
        assertThat(adjusted.gpuMillis()).isEqualTo(-3_000);
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 9_000L));
    }

    @Test
    void case3_anEndThatIsToldBeforeTheHolderIsSeenEndsItExactly() {
        // Given
        scene.fold(scene.allocated(0, "g0"), ended("a", "u1", 9));
        // When
        scene.fold(scene.held(2, holding("a", "u1", "g0")), scene.held(12));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 9_000L));
        assertThat(scene.adjusted()).isEmpty();
        assertThat(scene.closed().getFirst().estimated()).isFalse();
    }

    @Test
    void case5_aPodThatVanishedWhileNobodyWatchedEndsAtTheFirstSnapshotWithoutIt() {
        // Given
        scene.fold(scene.held(0, holding("a", "u1", "g0")));
        // When
        scene.fold(scene.held(100));
        // Then
        ClosedInterval closed = scene.closed().getFirst();
        assertThat(closed.to()).isEqualTo(at(100));
        assertThat(closed.estimated()).isTrue();
    }

    @Test
    void case6_aPodWhoseObjectIsGoneHoldsItsDeviceUntilTheNodeSaysOtherwise() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(scene.held(30, holding("a", "u1", "g0")));
        // Then
        assertThat(scene.ledger().open()).hasSize(1);
        assertThat(scene.published()).isEmpty();
    }

    @Test
    void case7_aLostNodeEndsItsIntervalsWithAMarkThatTheEndIsEstimated() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(new LedgerFact.MachineGone(at(400), EndReason.NODE_LOST));
        // Then
        assertThat(scene.closed()).singleElement().satisfies(closed -> {
            assertThat(closed.estimated()).isTrue();
            assertThat(closed.reason()).isEqualTo(EndReason.NODE_LOST);
            assertThat(closed.gpuMillis()).isEqualTo(400_000);
        });
    }

    @Test
    void case7_aNodeObjectThatWasOnlyMadeAnewLosesNoSecond() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        scene.fold(new LedgerFact.MachineGone(at(400), EndReason.NODE_LOST));
        // When
        scene.fold(scene.held(430, holding("a", "u1", "g0")), ended("a", "u1", 500), scene.held(501));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 500_000L));
    }

    @Test
    void case7_aNewBootEndsWhatTheOldOneHeld() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(scene.heldAfterBoot("boot-2", 300, true));
        // Then
        assertThat(scene.closed().getFirst().reason()).isEqualTo(EndReason.NODE_REBOOTED);
        assertThat(scene.ledger().open()).isEmpty();
    }

    @Test
    void case8_aClockThatWentBackMakesAnEmptyIntervalAndNoNegativeOne() {
        // Given
        scene.fold(scene.held(7_200, holding("a", "u1", "g0")));
        // When
        scene.fold(scene.held(10));
        // Then
        assertThat(scene.closed().getFirst().gpuMillis()).isZero();
        assertThat(scene.closed().getFirst().to())
                .isEqualTo(scene.closed().getFirst().from());
    }

    @Test
    void case8_distrustIsToldByTheLogsClockAndCountedByTheNodes() {
        // Given a node whose clock is two hours ahead
        var ahead = new LedgerFact.Snapshot(
                Scene.BOOT, List.of(holding("a", "u1", "g0")), true, at(7_200), at(0), 7_200_000, new Stamp(1, 1));
        scene.fold(ahead);
        // When
        scene.fold(new LedgerFact.TrustChanged(Map.of("g0", at(60)), at(60)), ended("a", "u1", 7_300));
        // Then
        assertThat(scene.millis(Quality.ALLOCATED)).isEqualTo(60_000);
        assertThat(scene.millis(Quality.ALLOCATED_WHILE_FAULTY)).isEqualTo(40_000);
    }

    @Test
    void case9_anAllocateThatNobodyHoldsWithinAMinuteIsZero() {
        // Given
        scene.fold(scene.allocated(0, "g0"));
        // When
        scene.fold(scene.held(61), scene.held(200, holding("b", "u2", "g0")), scene.held(210));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("b", 10_000L));
        assertThat(scene.ledger().pending()).isEmpty();
    }

    @Test
    void case10_anAppContainerThatTakesOverFromAnInitContainerCountsOnce() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "init", "g0", 1)));
        // When
        scene.fold(
                scene.held(20, holding("a", "u1", "init", "g0", 1), holding("a", "u1", "main", "g0", 1)),
                scene.held(30, holding("a", "u1", "main", "g0", 1)),
                ended("a", "u1", 50),
                scene.held(51));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 50_000L));
    }

    @Test
    void case11_aTerminalPodThatIsStillListedHoldsNothing() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")), ended("a", "u1", 9));
        // When
        scene.fold(scene.held(10, holding("a", "u1", "g0")), scene.held(30_000, holding("a", "u1", "g0")));
        scene.fold(scene.held(60_000, holding("a", "u1", "g0")));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 9_000L));
        assertThat(scene.ledger().open()).isEmpty();
        assertThat(scene.closed()).hasSize(1);
    }

    @Test
    void case12_aKubeletThatStartsAnewReleasesNothing() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(scene.heldAfterBoot(Scene.BOOT, 10, false), scene.held(12, holding("a", "u1", "g0")));
        // Then
        assertThat(scene.published()).isEmpty();
        assertThat(scene.ledger().open()).hasSize(1);
    }

    @Test
    void case13_aPodThatComesBackOnAnotherDeviceHasTwoIntervals() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(scene.allocated(10, "g1"), scene.held(11, holding("a", "u1", "g1")), scene.held(20));
        // Then
        assertThat(scene.closed())
                .extracting(closed -> closed.holding().device().id() + " " + closed.gpuMillis())
                .containsExactly("g0 11000", "g1 10000");
    }

    @Test
    void case13_aStaleLineOfTheKubeletsBookDoesNotKeepTheNewHolderOut() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("old", "u1", "g0")));
        // When
        scene.fold(
                scene.allocated(10, "g0"),
                scene.held(11, holding("old", "u1", "g0"), holding("new", "u2", "g0")),
                scene.held(20));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("old", 10_000L, "new", 10_000L));
    }

    @Test
    void case14_sharesOfOneDeviceAddUpToOne() {
        // Given
        scene.fold(scene.held(0, holding("a", "u1", "main", "g0::0", 2), holding("b", "u2", "main", "g0::1", 2)));
        // When
        scene.fold(scene.held(100));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 50_000L, "b", 50_000L));
    }

    @Test
    void case15_aDeviceThatIsSharedOtherwiseFromNowOnSplitsTheInterval() {
        // Given
        scene.fold(scene.held(0, holding("a", "u1", "main", "g0", 1)));
        // When
        scene.fold(scene.held(10, holding("a", "u1", "main", "g0", 2)), scene.held(20));
        // Then
        assertThat(scene.closed()).extracting(ClosedInterval::gpuMillis).containsExactly(10_000L, 5_000L);
        assertThat(scene.closed().getFirst().reason()).isEqualTo(EndReason.DEVICE_CHANGED);
    }

    @Test
    void case20_aPodShorterThanAnySnapshotCountsFromAllocateToItsEnd() {
        // Given
        scene.fold(scene.allocated(0.2, "g0"));
        // When
        scene.fold(scene.held(0.7, holding("a", "u1", "g0")), ended("a", "u1", 3), scene.held(4));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 3_000L));
    }

    @Test
    void aContainerRestartEndsNothing() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(scene.held(10, holding("a", "u1", "g0")), scene.held(20, holding("a", "u1", "g0")));
        // Then
        assertThat(scene.published()).isEmpty();
    }

    @Test
    void aMissedSnapshotIsHealedByTheNext() {
        // Given the snapshots in which a went and b came were lost, the Allocate was not
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(scene.allocated(50, "g0"), scene.held(70, holding("b", "u2", "g0")), scene.held(80));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 50_000L, "b", 30_000L));
    }

    @Test
    void timeOnAFaultyDeviceIsSplitOffAndEndsWithTheFault() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(
                new LedgerFact.TrustChanged(Map.of("g0", at(10)), at(10)),
                new LedgerFact.TrustChanged(Map.of(), at(25)),
                ended("a", "u1", 30));
        // Then
        assertThat(scene.millis(Quality.ALLOCATED)).isEqualTo(15_000);
        assertThat(scene.millis(Quality.ALLOCATED_WHILE_FAULTY)).isEqualTo(15_000);
    }

    @Test
    void aFaultToldAfterTheReleaseTakesTheFaultyTimeBack() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")), ended("a", "u1", 30));
        // When
        scene.fold(new LedgerFact.TrustChanged(Map.of("g0", at(10)), at(31)));
        scene.fold(new LedgerFact.TrustChanged(Map.of("g0", at(10)), at(32)));
        // Then
        assertThat(scene.millis(Quality.ALLOCATED)).isEqualTo(10_000);
        assertThat(scene.millis(Quality.ALLOCATED_WHILE_FAULTY)).isEqualTo(20_000);
    }

    @Test
    void trustThatIsToldBeforeAnEarlierReleaseAddsNoTime() {
        // Given trust that went and came, told while the daemon's news of 30.9 s were still under way
        scene.fold(scene.allocated(10, "g0"), scene.held(10.5, holding("a", "u1", "g0")));
        scene.fold(
                new LedgerFact.TrustChanged(Map.of("g0", at(20)), at(21)),
                new LedgerFact.TrustChanged(Map.of(), at(40)));
        // When
        scene.fold(scene.held(30.9));
        // Then
        assertThat(scene.millis(Quality.ALLOCATED)).isEqualTo(10_000);
        assertThat(scene.millis(Quality.ALLOCATED_WHILE_FAULTY)).isEqualTo(10_000);
        // When the true end is a little earlier
        scene.fold(ended("a", "u1", 29));
        // Then
        assertThat(scene.millisByPod()).isEqualTo(Map.of("a", 19_000L));
    }

    @Test
    void aFaultOfAGpuIsAFaultOfItsMigDevices() {
        // Given
        scene.fold(
                new LedgerFact.GpusAnnounced(List.of(new GpuModel("NVIDIA A100", "A100", 1)), Map.of("MIG-1", "g0")),
                scene.held(0, holding("a", "u1", "MIG-1")));
        // When
        scene.fold(new LedgerFact.TrustChanged(Map.of("g0", at(10)), at(10)), ended("a", "u1", 30));
        // Then
        assertThat(scene.millis(Quality.ALLOCATED_WHILE_FAULTY)).isEqualTo(20_000);
    }

    @Test
    void aMachineThatTookTheNameOfAnotherInheritsNothing() {
        // Given
        scene.fold(scene.allocated(0, "g0"), scene.held(1, holding("a", "u1", "g0")));
        // When
        scene.fold(
                new LedgerFact.MachineGone(at(100), EndReason.MACHINE_REPLACED),
                scene.heldAfterBoot("boot-9", 100, true, holding("a", "u1", "g0")));
        // Then
        assertThat(scene.closed().getFirst().reason()).isEqualTo(EndReason.MACHINE_REPLACED);
        assertThat(scene.ledger().open().values())
                .singleElement()
                .satisfies(open -> assertThat(open.from()).isEqualTo(at(100)));
    }
}
