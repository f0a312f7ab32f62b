package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.UsageSumReader.Dimension;
import io.gpufleet.allocation.model.devicetime.DeviceCondition;
import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.holding.KnownPod;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.EventSequence;
import io.gpufleet.allocation.model.ledger.FinishedPod;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.usage.DailySum;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Usage that is in the ledger of a node and not read from its log yet. */
class OpenUsageTest extends TestUsageLog {
    @Test
    void openIntervalCountsSoFarUntilItsClosingIsRead() throws IOException {
        log.loaded();
        var snapshot = new LedgerFact.HoldingsSnapshot(
                "boot", List.of(holding("ml", "g0", "")), true, at(900), at(900), 0, new EventSequence(1, 1));
        NodeLedger state =
                LedgerReducer.fold("c", "n1", NodeLedger.EMPTY, snapshot).next();
        ledger.committed(Map.of("n1", state), Set.of());
        assertThat(sum(0, 1_000)).isEqualTo("100.000");
        assertThat(sum(950, 1_000)).isEqualTo("50.000");
        // When
        String id = state.open().values().iterator().next().id();
        log.add(piece(id, holding("ml", "g0", ""), 900, 990, 1));
        // Then
        assertThat(sum(0, 1_000)).isEqualTo("90.000");
    }

    @Test
    void closedIntervalIsInTheSumsBeforeItsClosingIsRead() throws IOException {
        // Given
        log.loaded();
        NodeLedger held = heldAndReleased(at(900)).getFirst();
        NodeLedger released = heldAndReleased(at(900)).getLast();
        ledger.committed(Map.of("n1", held), Set.of());
        assertThat(sum(0, 1_000)).isEqualTo("100.000");
        // When
        ledger.committed(Map.of("n1", released), Set.of());
        // Then
        assertThat(sum(0, 1_000)).isEqualTo("90.000");
        log.add(piece(released.closed().intervals().getFirst().id(), holding("ml", "g0", ""), 900, 990, 1));
        assertThat(sum(0, 1_000)).isEqualTo("90.000");
    }

    @Test
    void closedIntervalThatIsKeptNoMoreIsNotCountedAgain() throws IOException {
        // Given
        var small = new UsageLog(ledger, Clock.fixed(NOW, ZoneOffset.UTC), PIECE);
        small.loaded();
        NodeLedger released = heldAndReleased(at(900)).getLast();
        ledger.committed(Map.of("n1", released), Set.of());
        small.add(piece(released.closed().intervals().getFirst().id(), holding("ml", "g0", ""), 900, 990, 1));
        // When
        small.add(piece("next", holding("ml", "g1", ""), 900, 995, 1));
        // Then
        assertThat(small.sums(new UsageSumReader.Query(small.keptSince(), NOW, List.of())))
                .extracting(row -> row.gpuSeconds().toPlainString())
                .containsExactly("5.000");
        assertThat(small.day(small.today())).extracting(DailySum::gpuMillis).containsExactly(185_000L);
    }

    /** A pod that had a GPU from second 900 until the snapshot of second 990 lacked it, and that finished at another one. */
    private static NodeLedger finishedAt(long... ends) {
        NodeLedger state = heldAndReleased(at(900)).getLast();
        for (long end : ends) {
            var finished = new LedgerFact.PodFinished(new FinishedPod("ml", "p", "u", at(end)));
            state = LedgerReducer.fold("c", "n1", state, finished).next();
        }
        return state;
    }

    @ParameterizedTest(name = "its pod finished at second {0}")
    @ValueSource(longs = {950, 997})
    void adjustedIntervalIsInTheSumsWhateverOfItIsRead(long end) throws IOException {
        // Given
        log.loaded();
        NodeLedger adjusted = finishedAt(end);
        String expected = end - 900 + ".000";
        String id = adjusted.closed().intervals().getFirst().id();
        // When
        ledger.committed(Map.of("n1", adjusted), Set.of());
        // Then
        assertThat(sum(0, 1_000)).isEqualTo(expected);
        log.add(piece(id, holding("ml", "g0", ""), 900, 990, 1));
        assertThat(sum(0, 1_000)).isEqualTo(expected);
        log.add(piece(id + "/1", holding("ml", "g0", ""), Math.min(end, 990), Math.max(end, 990), end < 990 ? -1 : 1));
        assertThat(sum(0, 1_000)).isEqualTo(expected);
    }

    @Test
    void intervalThatIsAdjustedTwiceIsInTheSumsWhateverOfItIsRead() throws IOException {
        // Given
        log.loaded();
        NodeLedger adjusted = finishedAt(970, 940);
        String id = adjusted.closed().intervals().getFirst().id();
        assertThat(adjusted.closed().intervals().getFirst().adjustments()).isEqualTo(2);
        // When
        ledger.committed(Map.of("n1", adjusted), Set.of());
        // Then
        for (UsagePiece next : List.of(
                piece(id, holding("ml", "g0", ""), 900, 990, 1),
                piece(id + "/1", holding("ml", "g0", ""), 970, 990, -1),
                piece(id + "/2", holding("ml", "g0", ""), 940, 970, -1))) {
            assertThat(sum(0, 1_000)).isEqualTo("40.000");
            log.add(next);
        }
        assertThat(sum(0, 1_000)).isEqualTo("40.000");
    }

    @Test
    void intervalWhosePartsLostTrustLateIsInTheSumsOnceWhateverOfItIsRead() throws IOException {
        // Given
        log.loaded();
        NodeLedger released = heldAndReleased(at(900)).getLast();
        String id = released.closed().intervals().getFirst().id();
        log.add(piece(id, holding("ml", "g0", ""), 900, 990, 1));
        // When
        var distrust = new LedgerFact.TrustChanged(Map.of("g0", at(930)), at(995));
        ledger.committed(
                Map.of("n1", LedgerReducer.fold("c", "n1", released, distrust).next()), Set.of());
        // Then
        assertThat(sums(0, 1_000, Dimension.QUALITY)).isEqualTo("allocated=30.000*2 allocated-while-faulty=60.000*1");
    }

    @Test
    void adjustedIntervalThatIsKeptNoMoreIsNotCountedAgain() throws IOException {
        // Given
        var small = new UsageLog(ledger, Clock.fixed(NOW, ZoneOffset.UTC), PIECE);
        small.loaded();
        NodeLedger adjusted = finishedAt(950);
        String id = adjusted.closed().intervals().getFirst().id();
        ledger.committed(Map.of("n1", adjusted), Set.of());
        small.add(piece(id, holding("ml", "g0", ""), 900, 990, 1));
        small.add(piece(id + "/1", holding("ml", "g0", ""), 950, 990, -1));
        // When
        small.add(piece("next", holding("ml", "g1", ""), 900, 995, 1));
        // Then
        assertThat(small.day(small.today())).extracting(DailySum::gpuMillis).containsExactly(145_000L);
    }

    private static List<NodeLedger> heldAndReleased(Instant from) {
        var first = new LedgerFact.HoldingsSnapshot(
                "boot", List.of(holding("ml", "g0", "")), true, from, from, 0, new EventSequence(1, 1));
        Instant to = from.plusSeconds(90);
        var second = new LedgerFact.HoldingsSnapshot("boot", List.of(), true, to, to, 0, new EventSequence(1, 2));
        NodeLedger held = LedgerReducer.fold("c", "n1", NodeLedger.EMPTY, first).next();
        return List.of(held, LedgerReducer.fold("c", "n1", held, second).next());
    }

    @Test
    void openIntervalIsGroupedByOwnerProductAndLabels() throws IOException {
        log.loaded();
        var pod = new KnownPod("ml", "p", "u", "Job/train", new TreeMap<>(Map.of("team", "vision")), at(890));
        var gpus = new AnnouncedGpus(
                List.of(new GpuModel("NVIDIA A100", "A100", 1, List.of("g0"))), new TreeSet<>(), Map.of());
        var snapshot = new LedgerFact.HoldingsSnapshot(
                "boot", List.of(holding("ml", "g0", "")), true, at(900), at(900), 0, new EventSequence(1, 1));
        NodeLedger state = LedgerReducer.fold(
                        "c",
                        "n1",
                        NodeLedger.EMPTY,
                        List.of(new LedgerFact.GpusAnnounced(gpus), new LedgerFact.PodKnown(pod), snapshot))
                .next();
        // When
        ledger.committed(Map.of("n1", state), Set.of());
        // Then
        var query = new UsageSumReader.Query(
                at(0), at(1_000), List.of(Dimension.OWNER, Dimension.PRODUCT), List.of("team"));
        assertThat(log.sums(query))
                .extracting(row -> row.group() + " " + row.gpuSeconds())
                .containsExactly("{owner=Job/train, product=NVIDIA-A100, label:team=vision} 100.000");
    }

    private static NodeLedger folded(LedgerFact... facts) {
        return LedgerReducer.fold("c", "n1", NodeLedger.EMPTY, List.of(facts)).next();
    }

    private static LedgerFact listed(long at, String... gpus) {
        return new LedgerFact.GpusListed(
                Arrays.stream(gpus)
                        .map(uuid -> new GpuIdentity(uuid, "A100", "NVIDIA-A100"))
                        .toList(),
                Set.of("g2"),
                true,
                at(at));
    }

    @Test
    void timeThatNobodyHoldsIsShownByQualityAndIsInNoOtherSum() throws IOException {
        log.loaded();
        var snapshot = new LedgerFact.HoldingsSnapshot(
                "boot", List.of(holding("ml", "g0", "3g.40gb")), true, at(900), at(900), 0, new EventSequence(1, 1));
        ledger.committed(Map.of("n1", folded(listed(800, "g0", "g1", "g2"), snapshot)), Set.of());
        assertThat(sums(0, 1_000, Dimension.NAMESPACE, Dimension.MODEL, Dimension.QUALITY))
                .isEqualTo("/A100/idle=357.143*1 /A100/quarantined=200.000*1 ml/A100/allocated=42.857*1");
        assertThat(sums(950, 1_000, Dimension.QUALITY))
                .isEqualTo("allocated=21.429*1 idle=78.571*1 quarantined=50.000*1");
        assertThat(sums(0, 1_000, Dimension.NAMESPACE)).isEqualTo("ml=42.857*1");
    }

    @Test
    void publishedTimeOfDevicesIsSummedOnceAndIntervalsOfEarlierReleasesReduceNoIdleTime() throws IOException {
        log.loaded();
        var gpu = new GpuIdentity("g0", "A100", "");
        log.add(UsagePiece.of(
                "n1", new DeviceInterval("d1", gpu, DeviceCondition.IDLE, at(0), at(500), GpuFraction.WHOLE)));
        var quarantined =
                new DeviceInterval("d2", gpu, DeviceCondition.QUARANTINED, at(100), at(200), GpuFraction.WHOLE);
        log.add(UsagePiece.of("n1", quarantined));
        log.add(UsagePiece.of("n1", quarantined));
        log.add(piece("old", holding("ml", "g0", ""), 200, 300, 1));
        log.add(new UsagePiece(
                "new",
                "n1",
                holding("ml", "g0", ""),
                UsageAttributes.NONE.withReducesIdle(true),
                at(300),
                at(350),
                "allocated",
                GpuFraction.WHOLE));
        assertThat(sums(0, 1_000, Dimension.QUALITY))
                .isEqualTo("allocated=150.000*2 idle=350.000*1 quarantined=100.000*1");
    }
}
