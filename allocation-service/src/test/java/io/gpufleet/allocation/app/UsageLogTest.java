package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.allocation.app.UsageSumReader.Dimension;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Usage of windows of time. */
class UsageLogTest extends TestUsageLog {
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
}
