package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.allocation.app.UsageSumReader.Dimension;
import io.gpufleet.allocation.model.devicetime.DeviceCondition;
import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.EventSequence;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.usage.DailySum;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Usage of windows of time. */
class UsageLogTest {
    /** More bytes than a piece of these tests, and less than two. */
    private static final long PIECE = 1_200;

    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");

    private final Ledger ledger = new Ledger(_ -> {});
    private final UsageLog log = new UsageLog(ledger, Clock.fixed(NOW, ZoneOffset.UTC), 1_000 * PIECE);

    private static Clock clock(AtomicReference<Instant> time) {
        return new Clock() {
            @Override
            public Instant instant() {
                return time.get();
            }

            @Override
            public ZoneId getZone() {
                return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(ZoneId zone) {
                return this;
            }
        };
    }

    private static Instant at(long seconds) {
        return NOW.minusSeconds(1_000).plusSeconds(seconds);
    }

    private static Holding holding(String namespace, String device, String profile) {
        return new Holding(
                new Holder(namespace, "p", "u", "c", "nvidia.com/gpu"),
                new HeldDevice(device, new DeviceSlot(device, 0), "A100", 1, profile));
    }

    private static UsagePiece piece(String id, Holding holding, long from, long to, int sign) {
        return new UsagePiece(
                id,
                "n1",
                holding,
                UsageAttributes.NONE,
                at(from),
                at(to),
                "allocated",
                holding.device().weight(sign));
    }

    private String sum(long from, long to) throws IOException {
        return log.sums(new UsageSumReader.Query(at(from), at(to), List.of())).stream()
                .map(row -> row.gpuSeconds().toPlainString())
                .findFirst()
                .orElse("none");
    }

    @Test
    void windowIsClippedExactlyAndAdjacentWindowsAddUp() throws IOException {
        log.loaded();
        log.add(piece("a", holding("ml", "g0", ""), 100, 200, 1));
        log.add(piece("a", holding("ml", "g0", ""), 100, 200, 1));
        log.add(piece("a/1", holding("ml", "g0", ""), 180, 200, -1));
        assertThat(sum(0, 1_000)).isEqualTo("80.000");
        assertThat(sum(0, 150)).isEqualTo("50.000");
        assertThat(sum(150, 1_000)).isEqualTo("30.000");
        assertThat(sum(300, 400)).isEqualTo("none");
    }

    @Test
    void emptyWindowHasNoSums() throws IOException {
        log.loaded();
        log.add(piece("a", holding("ml", "g0", ""), 100, 200, 1));
        assertThat(sum(150, 150)).isEqualTo("none");
        assertThat(sum(150, 151)).isEqualTo("1.000");
    }

    @Test
    void moreSumsThanAnAnswerMayHaveAreRefused() throws IOException {
        // Given
        var large = new UsageLog(ledger, Clock.fixed(NOW, ZoneOffset.UTC), Long.MAX_VALUE);
        large.loaded();
        for (int number = 0; number < UsageSumReader.Query.MAX_SUMS; number++) {
            large.add(piece("i" + number, holding("team-" + number, "g0", ""), 0, 10, 1));
        }
        var query = new UsageSumReader.Query(at(0), at(100), List.of(Dimension.NAMESPACE));
        assertThat(large.sums(query)).hasSize(UsageSumReader.Query.MAX_SUMS);
        // When
        large.add(piece("one more", holding("another", "g0", ""), 0, 10, 1));
        // Then
        assertThatThrownBy(() -> large.sums(query))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("more than 50000 sums by namespace: choose a shorter window or fewer groups");
    }

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

    private static List<NodeLedger> heldAndReleased(Instant from) {
        var first = new LedgerFact.HoldingsSnapshot(
                "boot", List.of(holding("ml", "g0", "")), true, from, from, 0, new EventSequence(1, 1));
        Instant to = from.plusSeconds(90);
        var second = new LedgerFact.HoldingsSnapshot("boot", List.of(), true, to, to, 0, new EventSequence(1, 2));
        NodeLedger held = LedgerReducer.fold("c", "n1", NodeLedger.EMPTY, first).next();
        return List.of(held, LedgerReducer.fold("c", "n1", held, second).next());
    }

    @Test
    void valuesWithLineBreaksAreSumsOfTheirOwn() throws IOException {
        log.loaded();
        log.add(piece("a", namedModel("ml\nA100", "A100"), 0, 10, 1));
        log.add(piece("b", namedModel("ml", "A100\nA100"), 0, 20, 1));
        assertThat(log.sums(new UsageSumReader.Query(at(0), at(100), List.of(Dimension.NAMESPACE, Dimension.MODEL))))
                .extracting(row -> row.gpuSeconds().toPlainString())
                .containsExactlyInAnyOrder("10.000", "20.000");
    }

    private static Holding namedModel(String namespace, String model) {
        return new Holding(
                new Holder(namespace, "p", "u", "c", "nvidia.com/gpu"),
                new HeldDevice("g1", new DeviceSlot("g1", 0), model, 1, ""));
    }

    @Test
    void sevenSlicesOfOneGpuAreOneGpuSecondASecond() throws IOException {
        log.loaded();
        for (int i = 0; i < 7; i++) {
            log.add(piece("m" + i, holding("ml", "MIG-" + i, "1g.5gb"), 0, 100 + i, 1));
        }
        assertThat(sum(0, 100)).isEqualTo("100.000");
        assertThat(sum(0, 50)).isEqualTo("50.000");
    }

    @Test
    void sumsAreGroupedByWhatIsAskedFor() throws IOException {
        log.loaded();
        log.add(piece("a", holding("ml", "g0", ""), 0, 10, 1));
        log.add(piece("b", holding("web", "g1", ""), 0, 20, 1));
        assertThat(log.sums(new UsageSumReader.Query(at(0), at(100), List.of(Dimension.NODE, Dimension.NAMESPACE))))
                .extracting(UsageSumReader.UsageSum::group)
                .containsExactly(Map.of("node", "n1", "namespace", "ml"), Map.of("node", "n1", "namespace", "web"));
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

    @Test
    void intervalOfAnEarlierReleaseIsGroupedUnderEmptyNamesAndClipped() throws IOException {
        log.loaded();
        log.add(piece("a", holding("ml", "g0", ""), 100, 200, 1));
        var query =
                new UsageSumReader.Query(at(150), at(1_000), List.of(Dimension.NODE, Dimension.OWNER), List.of("team"));
        assertThat(log.sums(query))
                .extracting(row -> row.group() + " " + row.gpuSeconds())
                .containsExactly("{node=n1, owner=, label:team=} 50.000");
    }

    @Test
    void unreachableTimeIsInNoSumButItsOwn() throws IOException {
        log.loaded();
        log.add(piece("a", holding("ml", "g0", ""), 0, 10, 1));
        log.add(new UsagePiece(
                "b",
                "n1",
                holding("ml", "g0", ""),
                UsageAttributes.NONE,
                at(10),
                at(100),
                "unreachable",
                GpuFraction.WHOLE));
        assertThat(sum(0, 1_000)).isEqualTo("10.000");
        assertThat(log.sums(new UsageSumReader.Query(at(0), at(1_000), List.of(Dimension.QUALITY))))
                .extracting(row ->
                        row.group().get("quality") + " " + row.gpuSeconds().toPlainString())
                .containsExactly("allocated 10.000", "unreachable 90.000");
    }

    @Test
    void windowThatBeginsBeforeWhatIsKeptIsRefused() {
        log.loaded();
        assertThatThrownBy(
                        () -> log.sums(new UsageSumReader.Query(Instant.parse("0001-01-01T00:00:00Z"), NOW, List.of())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("since when intervals are kept");
    }

    @Test
    void nothingIsAnsweredBeforeTheLogIsRead() {
        assertThatThrownBy(() -> sum(0, 1)).isInstanceOf(IOException.class);
        assertThat(log.readinessFailures()).isNotEmpty();
    }

    @Test
    void memoryIsBoundedAndTellsFromWhenItIsComplete() throws IOException {
        log.loaded();
        for (int i = 0; i < 1_300; i++) {
            log.add(piece("i" + i, holding("ml", "g0", ""), i % 500, i % 500 + 1, 1));
        }
        assertThatThrownBy(() -> sum(0, 10)).hasMessageContaining("since when intervals are kept");
        assertThat(sum(100, 101)).isEqualTo("3.000");
    }

    @Test
    void pieceOfAClockThatIsFarAheadHidesNoOther() throws IOException {
        // Given
        var small = new UsageLog(ledger, Clock.fixed(NOW, ZoneOffset.UTC), 3 * PIECE);
        small.loaded();
        long years = 10 * 365 * 86_400L;
        small.add(piece("ahead", holding("ml", "g9", ""), years, years + 1, 1));
        // When
        for (int i = 0; i < 3; i++) {
            small.add(piece("i" + i, holding("ml", "g0", ""), 100 + i, 101 + i, 1));
        }
        // Then
        assertThat(small.keptSince()).isEqualTo(at(101));
    }

    @Test
    void pieceOfAClockThatIsFarAheadKeepsNoOldOneInMemory() throws IOException {
        // Given
        var time = new AtomicReference<>(NOW);
        var log = new UsageLog(ledger, clock(time), 100 * PIECE);
        log.loaded();
        long years = 10 * 365 * 86_400L;
        log.add(piece("ahead", holding("ml", "g9", ""), years, years + 1, 1));
        log.add(piece("old", holding("ml", "g0", ""), 100, 200, 1));
        // When
        time.set(NOW.plus(UsageLog.RETENTION).plusSeconds(1));
        log.add(piece("new", holding("ml", "g0", ""), 36 * 86_400L, 36 * 86_400L + 1, 1));
        // Then
        assertThat(log.size()).isEqualTo(2);
    }

    @Test
    void retentionIsLongerThanAMonth() {
        assertThat(UsageLog.RETENTION).isGreaterThan(Duration.ofDays(31));
    }

    private String sums(long from, long to, Dimension... groupBy) throws IOException {
        return log.sums(new UsageSumReader.Query(at(from), at(to), List.of(groupBy))).stream()
                .map(row -> String.join("/", row.group().values()) + "="
                        + row.gpuSeconds().toPlainString() + "*" + row.intervals())
                .collect(Collectors.joining(" "));
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
