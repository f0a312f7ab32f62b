package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestDeviceTime.listed;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.holding;
import static io.gpufleet.allocation.model.ledger.TestNodeLedger.podFinished;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.allocation.model.devicetime.DeviceCondition;
import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.devicetime.Outage;
import io.gpufleet.allocation.model.devicetime.OutageCause;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holding;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Time in which nobody holds a GPU. Windows are seconds from 0 to 100 of a node whose open time lasts until 100. */
class DeviceTimeTest {
    private final TestNodeLedger node = new TestNodeLedger();

    private void assertSums(String sums) {
        assertThat(TestDeviceTime.sums(node, 100, 0, 100)).hasToString(sums);
    }

    private static LedgerFact distrusted(double at, String... gpus) {
        var since = new TreeMap<String, Instant>();
        List.of(gpus).forEach(gpu -> since.put(gpu, at(at)));
        return new LedgerFact.TrustChanged(since, at(at));
    }

    private static LedgerFact heard(double at) {
        return new LedgerFact.DaemonHeard(at(at));
    }

    private static LedgerFact silentSince(double at) {
        return new LedgerFact.DaemonSilent(at(at));
    }

    private static LedgerFact gone(double at, IntervalEndReason reason) {
        return new LedgerFact.MachineGone(at(at), reason);
    }

    private static LedgerFact mig(Map<String, String> parents) {
        return new LedgerFact.GpusAnnounced(new AnnouncedGpus(List.of(), new TreeSet<>(), parents));
    }

    private static Holding migHolding(String pod, String device, String profile) {
        Holding whole = holding(pod, "u-" + pod, device);
        return new Holding(whole.holder(), new HeldDevice(device, whole.device().slot(), "A100", 1, profile));
    }

    @Test
    void gpuThatNobodyHoldsIsIdleFromItsFirstListingOn() {
        node.fold(listed(10, Set.of(), "g0"), node.held(20, holding("a", "u", "g0")), node.held(50));
        assertSums("{allocated=30.000, idle=60.000}");
        assertThat(node.deviceTime()).isEmpty();
    }

    @Test
    void restOfAPartlyHeldGpuIsIdle() {
        node.fold(mig(Map.of("m0", "g0", "m1", "g0")), listed(0, Set.of(), "g0"));
        node.fold(node.held(0, migHolding("a", "m0", "1g.5gb"), migHolding("b", "m1", "2g.10gb")));
        assertSums("{allocated=42.857, idle=57.143}");
    }

    @Test
    void migDeviceThatIsGoneWasAPartOfItsGpu() {
        node.fold(mig(Map.of("m0", "g0")), listed(0, Set.of(), "g0"), node.held(0, migHolding("a", "m0", "3g.20gb")));
        node.fold(node.held(70), mig(Map.of("m9", "g0")), listed(70, Set.of(), "g0"));
        node.fold(podFinished("a", "u-a", 35));
        assertSums("{allocated=15.000, idle=85.000}");
    }

    @Test
    void gpuThatAVerdictDoesNotTrustIsQuarantinedWhileNobodyHoldsIt() {
        node.fold(listed(0, Set.of(), "g0", "g1"), node.held(10, holding("a", "u", "g0")));
        node.fold(distrusted(20, "g0"), node.held(30), distrusted(60));
        assertSums("{allocated=10.000, allocated-while-faulty=10.000, idle=150.000, quarantined=30.000}");
    }

    @Test
    void nodeThatAVerdictWithdrawsIsQuarantinedWithEachGpu() {
        node.fold(listed(0, Set.of(), "g0", "g1"), distrusted(80, LedgerFact.TrustChanged.EVERY_DEVICE));
        assertSums("{idle=160.000, quarantined=40.000}");
    }

    @Test
    void gpuThatTheDaemonWithdrawsIsQuarantined() {
        node.fold(listed(0, Set.of("g0"), "g0"), listed(40, Set.of(), "g0"));
        assertSums("{idle=60.000, quarantined=40.000}");
    }

    @Test
    void driverThatDoesNotRespondQuarantinesGpusAndRemovesNone() {
        node.fold(listed(0, Set.of(), "g0"));
        node.fold(new LedgerFact.GpusListed(List.of(), Set.of(), false, at(30)), listed(50, Set.of(), "g0"));
        assertSums("{idle=80.000, quarantined=20.000}");
    }

    @Test
    void useWithoutAnAllocationIsUnaccounted() {
        node.fold(listed(0, Set.of(), "g0"), new LedgerFact.UnallocatedUse(Set.of("g0"), at(20)));
        node.fold(node.held(50, holding("a", "u", "g0")), node.held(60));
        node.fold(new LedgerFact.UnallocatedUse(Set.of(), at(70)));
        assertSums("{allocated=10.000, idle=50.000, unaccounted=40.000}");
    }

    @Test
    void useOfAQuarantinedGpuWithoutAnAllocationIsQuarantined() {
        node.fold(listed(0, Set.of(), "g0"), new LedgerFact.UnallocatedUse(Set.of("g0"), at(20)));
        node.fold(distrusted(50, "g0"));
        assertSums("{idle=20.000, quarantined=50.000, unaccounted=30.000}");
    }

    @Test
    void gpuOfASilentDaemonIsUnreachableUntilItIsHeard() {
        node.fold(listed(0, Set.of(), "g0"), heard(20), silentSince(20), heard(90));
        assertSums("{idle=30.000, unreachable=70.000}");
    }

    @Test
    void lastWordItselfIsNoNewWord() {
        node.fold(listed(0, Set.of(), "g0"), silentSince(20), heard(20));
        assertSums("{idle=20.000, unreachable=80.000}");
    }

    @Test
    void holderThatIsProvenAfterASilenceHadTheGpuAndTheOtherGpuStaysUnreachable() {
        node.fold(listed(0, Set.of(), "g0", "g1"), node.held(10, holding("a", "u", "g0")), silentSince(20));
        assertSums("{allocated=10.000, idle=30.000, unreachable=160.000}");
        node.fold(heard(60), node.held(60, holding("a", "u", "g0")));
        assertSums("{allocated=90.000, idle=70.000, unreachable=40.000}");
    }

    @Test
    void rebootIsUnreachableBetweenTheLastWordAndTheFirst() {
        node.fold(listed(0, Set.of(), "g0"), node.held(10, holding("a", "u", "g0")), silentSince(20));
        node.fold(heard(70), node.heldAfterBoot("boot-2", 70, true));
        assertSums("{allocated=10.000, idle=40.000, unreachable=50.000}");
        node.fold(podFinished("a", "u", 30));
        assertSums("{allocated=20.000, idle=40.000, unreachable=40.000}");
    }

    @Test
    void gpuThatIsListedNoMoreEndsThere() {
        node.fold(listed(0, Set.of(), "g0", "g1"), listed(40, Set.of(), "g0"), listed(80, Set.of(), "g0", "g1"));
        assertSums("{idle=160.000}");
    }

    @Test
    void timeOfAGpuThatIsGoneIsPublishedOnceNoLateFactChangesIt() {
        node.fold(listed(0, Set.of(), "g0", "g1"), listed(40, Set.of(), "g0"), node.held(50));
        assertThat(node.deviceTime()).isEmpty();
        node.fold(node.held(3_700));
        assertThat(node.deviceTime()).singleElement().satisfies(interval -> {
            assertThat(interval.gpu().uuid()).isEqualTo("g1");
            assertThat(interval.condition()).isEqualTo(DeviceCondition.IDLE);
            assertThat(interval.to()).isEqualTo(at(40));
        });
        assertSums("{idle=140.000}");
        assertThat(node.ledger().devices().presences()).hasSize(1);
    }

    @Test
    void gpusOfADeletedNodeThatIsSilentAreGoneSinceItsLastWord() {
        node.fold(listed(0, Set.of(), "g0"), heard(30), gone(31, IntervalEndReason.NODE_LOST), silentSince(35));
        assertSums("{idle=35.000}");
    }

    @Test
    void gpusOfANodeThatWasSilentForLongEndWithItsNodeObject() {
        node.fold(listed(-900, Set.of(), "g0"), heard(-800), gone(60, IntervalEndReason.NODE_LOST));
        assertSums("{unreachable=60.000}");
    }

    @Test
    void deletedNodeWhoseDaemonGoesOnKeepsItsGpus() {
        node.fold(listed(0, Set.of(), "g0"), heard(30), gone(31, IntervalEndReason.NODE_LOST), heard(40));
        assertSums("{idle=100.000}");
    }

    @Test
    void gpusThatWentWithASilenceAreBackWithTheNextWord() {
        node.fold(listed(0, Set.of(), "g0"), heard(30), gone(31, IntervalEndReason.NODE_LOST), silentSince(35));
        node.fold(heard(80));
        assertSums("{idle=55.000}");
    }

    @Test
    void gpusOfAReplacedMachineEndWithIt() {
        node.fold(listed(0, Set.of(), "g0"), heard(20), gone(20, IntervalEndReason.MACHINE_REPLACED));
        node.fold(listed(50, Set.of(), "g9"));
        assertSums("{idle=70.000}");
    }

    @Test
    void clockThatIsSetBackMakesNoTimeNegative() {
        node.fold(listed(50, Set.of(), "g0"), listed(20, Set.of("g0"), "g0"), listed(10, Set.of(), "g0"));
        assertSums("{idle=50.000}");
        node.fold(listed(5, Set.of()));
        assertSums("{}");
    }

    @Test
    void holderOfAGpuThatNobodyListedTakesNoIdleTime() {
        node.fold(node.held(10, holding("a", "u", "g0")), node.held(30));
        assertSums("{allocated=20.000}");
        node.fold(listed(50, Set.of(), "g0"));
        assertSums("{allocated=20.000, idle=50.000}");
    }

    @Test
    void forgottenNodePublishesWhatIsLeft() {
        node.fold(listed(0, Set.of(), "g0"), distrusted(20, "g0"), gone(21, IntervalEndReason.NODE_LOST));
        LedgerUpdate last = LedgerReducer.forget("c1", "n1", node.ledger(), at(60));
        assertThat(last.deviceTime())
                .extracting(DeviceInterval::condition, DeviceInterval::from, DeviceInterval::to)
                .containsExactly(
                        tuple(DeviceCondition.QUARANTINED, at(20), at(60)), tuple(DeviceCondition.IDLE, at(0), at(60)));
    }

    @Test
    void stateIsBoundedWhileAGpuIsWithdrawnAndOfferedOverAndOver() {
        node.fold(listed(0, Set.of(), "g0", "g1"), node.held(0, holding("a", "u", "g1")));
        for (int i = 0; i < 1_000; i++) {
            node.fold(listed(10 * i, Set.of("g0"), "g0", "g1"), listed(10 * i + 5, Set.of(), "g0", "g1"));
            node.fold(node.held(10 * i + 6, holding("a", "u", "g1")));
        }
        assertThat(node.ledger().devices().outages()).hasSizeLessThanOrEqualTo(128);
        assertThat(TestDeviceTime.sums(node, 10_000, 0, 10_000))
                .hasToString("{allocated=10000.000, idle=5000.000, quarantined=5000.000}");
    }

    @Test
    void outageThatEndedLongAgoIsForgotten() {
        node.fold(listed(0, Set.of("g0"), "g0"), listed(40, Set.of(), "g0"), node.held(50), node.held(3_700));
        assertThat(node.ledger().devices().outages()).isEmpty();
        assertSums("{idle=60.000, quarantined=40.000}");
    }

    @Test
    void causesThatOverlapAreOneOutageUntilTheLastOfThemEnds() {
        node.fold(listed(0, Set.of(), "g0"), distrusted(20, "g0"), listed(30, Set.of("g0"), "g0"));
        node.fold(distrusted(35), distrusted(45, "g0"), listed(50, Set.of(), "g0"));
        node.fold(node.held(60), node.held(3_700));
        assertSums("{idle=20.000, quarantined=80.000}");
        node.fold(distrusted(3_800), node.held(3_900), node.held(9_000));
        assertSums("{idle=20.000, quarantined=80.000}");
        assertThat(node.ledger().devices().outages()).isEmpty();
    }

    @Test
    void causesThatFollowEachOtherAreOneOutageUntilTheLastOfThemEnds() {
        node.fold(listed(0, Set.of(), "g0"), distrusted(20, "g0"), listed(30, Set.of("g0"), "g0"), distrusted(30));
        node.fold(node.held(60), node.held(3_700));
        assertSums("{idle=20.000, quarantined=80.000}");
    }

    @Test
    void silenceIsAnOutageOfEveryGpu() {
        node.fold(listed(0, Set.of(), "g0"), silentSince(20));
        assertThat(node.ledger().devices().outages())
                .containsExactly(new Outage(Outage.EVERY_GPU, OutageCause.SILENT, at(20), Instant.MAX));
        assertThat(node.ledger().awaitsDaemon()).isFalse();
    }
}
