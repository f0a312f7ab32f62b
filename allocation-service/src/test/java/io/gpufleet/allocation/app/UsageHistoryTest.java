package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.allocation.app.UsageSumReader.Dimension;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.usage.DailySum;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Daily sums: written by the active replica until they agree with the intervals, and read for what is older than these. */
class UsageHistoryTest {
    /** More bytes than a piece of these tests, and less than two. */
    private static final long PIECE = 1_200;

    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");
    private static final LocalDate TODAY = LocalDate.parse("2026-11-20");
    private static final Instant TEN_DAYS_AGO = Instant.parse("2026-11-10T00:00:00Z");

    private static final UsageAttributes ATTRIBUTES =
            UsageAttributes.of("NVIDIA-A100", "Job/train", Map.of("team", "vision"));

    private static final Holding HOLDING = new Holding(
            new Holder("ml", "p", "u", "c", "nvidia.com/gpu"),
            new HeldDevice("g0", new DeviceSlot("g0", 0), "A100", 1, ""));

    private final Clock clock = Clock.fixed(NOW, ZoneOffset.UTC);
    private final UsageLog log = new UsageLog(new Ledger(_ -> {}), clock, 1_000 * PIECE);
    private final DailySums days = new DailySums(1_000_000);
    private final ActiveLease active = new ActiveLease();
    private final List<DailySum> written = new ArrayList<>();
    private final DailySummation summation = new DailySummation(
            log,
            days,
            active,
            sum -> {
                written.add(sum);
                days.add(sum);
            },
            clock);
    private final UsageHistory history = new UsageHistory(log, days);

    UsageHistoryTest() {
        log.loaded();
        days.loaded();
        active.begin(() -> true);
    }

    private void used(String id, Instant from, long seconds, int sign) {
        log.add(piece(id, from, seconds, sign));
    }

    private static UsagePiece piece(String id, Instant from, long seconds, int sign) {
        return new UsagePiece(
                id,
                "n1",
                HOLDING,
                ATTRIBUTES,
                from,
                from.plusSeconds(seconds),
                "allocated",
                HOLDING.device().weight(sign));
    }

    private static DailySum sum(LocalDate day, String quality, long millis) {
        return new DailySum(day, "ml", "A100", quality, millis, 1);
    }

    private static DailySum divided(DailySum sum) {
        return new DailySum(
                sum.day(),
                sum.namespace(),
                sum.model(),
                sum.quality(),
                sum.gpuMillis(),
                sum.intervals(),
                List.of(new DailySum.Part("n1", ATTRIBUTES, sum.gpuMillis(), sum.intervals())));
    }

    private List<String> answer(Instant from, Instant to, Dimension... groupBy) throws IOException {
        return history.sums(new UsageSumReader.Query(from, to, List.of(groupBy))).stream()
                .map(row -> String.join(" ", row.group().values()) + " " + row.gpuSeconds() + " " + row.intervals())
                .toList();
    }

    @Test
    void dayIsSummedOnceAndAnIntervalOverMidnightIsDivided() throws IOException {
        used("a", TEN_DAYS_AGO.minusSeconds(60), 100, 1);
        // When
        summation.run();
        summation.run();
        // Then
        LocalDate day = TODAY.minusDays(10);
        assertThat(written)
                .containsExactly(
                        divided(sum(day.minusDays(1), "allocated", 60_000)), divided(sum(day, "allocated", 40_000)));
        assertThat(written.getFirst().key()).isEqualTo("2026-11-09/ml/A100/allocated");
    }

    @Test
    void lateAdjustmentCorrectsTheDay() throws IOException {
        used("a", TEN_DAYS_AGO, 100, 1);
        summation.run();
        written.clear();
        // When
        used("a/1", TEN_DAYS_AGO.plusSeconds(70), 30, -1);
        summation.run();
        // Then
        assertThat(written)
                .containsExactly(divided(new DailySum(TODAY.minusDays(10), "ml", "A100", "allocated", 70_000, 2)));
    }

    @Test
    void dayOfMoreIntervalsThanAreKeptIsSummedAllTheSame() throws IOException {
        // Given
        var small = new UsageLog(new Ledger(_ -> {}), clock, 2 * PIECE);
        for (int i = 0; i < 5; i++) {
            small.add(piece("i" + i, TEN_DAYS_AGO.plusSeconds(i), 100, 1));
        }
        small.loaded();
        // When
        new DailySummation(small, days, active, written::add, clock).run();
        // Then
        assertThat(written)
                .containsExactly(divided(new DailySum(TODAY.minusDays(10), "ml", "A100", "allocated", 500_000, 5)));
    }

    @Test
    void dayThatIsReadAgainAfterAFailureIsNotSummedTwice() throws IOException {
        // Given
        var small = new UsageLog(new Ledger(_ -> {}), clock, 2 * PIECE);
        for (int reading = 0; reading < 2; reading++) {
            small.started();

            for (int i = 0; i < 5; i++) {
                small.add(piece("i" + i, TEN_DAYS_AGO.plusSeconds(i), 100, 1));
            }
            small.loaded();
        }
        // When
        new DailySummation(small, days, active, written::add, clock).run();
        // Then
        assertThat(written).extracting(DailySum::gpuMillis).containsExactly(500_000L);
    }

    @Test
    void qualityThatThisReleaseDoesNotKnowIsNeitherBilledNorWritten() throws IOException {
        log.add(new UsagePiece(
                "a",
                "n1",
                HOLDING,
                ATTRIBUTES,
                TEN_DAYS_AGO,
                TEN_DAYS_AGO.plusSeconds(5),
                UsagePiece.UNKNOWN,
                HOLDING.device().weight(1)));
        used("b", TEN_DAYS_AGO, 8, 1);
        // When
        summation.run();
        // Then
        assertThat(written).extracting(DailySum::quality).containsExactly("allocated");
        assertThat(answer(TEN_DAYS_AGO, NOW)).containsExactly(" 8.000 1");
        assertThat(answer(TEN_DAYS_AGO, NOW, Dimension.QUALITY))
                .containsExactly("allocated 8.000 1", "unknown 5.000 1");
    }

    @Test
    void groupThatIsGoneIsEmptiedOnce() throws IOException {
        days.add(sum(TODAY.minusDays(3), "unreachable", 5_000));
        // When
        summation.run();
        summation.run();
        // Then
        assertThat(written)
                .containsExactly(sum(TODAY.minusDays(3), "unreachable", 5_000).emptied());
    }

    @Test
    void todayIsNotSummedYet() throws IOException {
        used("a", NOW.minusSeconds(100), 50, 1);
        summation.run();
        assertThat(written).isEmpty();
    }

    @Test
    void standbyWritesNothing() throws IOException {
        used("a", TEN_DAYS_AGO, 100, 1);
        active.end();
        summation.run();
        assertThat(written).isEmpty();
    }

    @Test
    void windowOfMonthsIsAnsweredFromDaysAndThenFromIntervals() throws IOException {
        // Given
        days.add(sum(TODAY.minusDays(100), "allocated", 1_000));
        days.add(sum(TODAY.minusDays(90), "allocated", 2_000));
        days.add(sum(TODAY.minusDays(90), "unreachable", 64_000));
        // Is known from its intervals, too, which count.
        days.add(sum(TODAY.minusDays(10), "allocated", 999_000));
        used("a", TEN_DAYS_AGO, 8, 1);
        Instant begin = NOW.minusSeconds(100 * 86_400L + 43_200);
        // Then
        assertThat(answer(begin, NOW)).containsExactly(" 11.000 3");
        assertThat(answer(begin, NOW, Dimension.QUALITY, Dimension.NAMESPACE))
                .containsExactly("allocated ml 11.000 3", "unreachable ml 64.000 1");
        assertThat(answer(begin, begin.plusSeconds(86_400), Dimension.MODEL)).containsExactly("A100 1.000 1");
    }

    @Test
    void dayThatIsNotSummedYetIsAnsweredFromItsIntervals() throws IOException {
        // Given a log that keeps two intervals, a few minutes after midnight
        Instant midnight = UsageHistory.start(TODAY);
        var small =
                new UsageLog(new Ledger(_ -> {}), Clock.fixed(midnight.plusSeconds(300), ZoneOffset.UTC), 2 * PIECE);
        for (int i = 0; i < 5; i++) {
            small.add(piece("i" + i, midnight.minusSeconds(3_600 - i), 100, 1));
        }
        small.loaded();
        days.add(sum(TODAY.minusDays(100), "allocated", 1_000));
        days.add(sum(TODAY.minusDays(2), "allocated", 2_000));
        // When
        var query = new UsageSumReader.Query(midnight.minusSeconds(2 * 86_400L), midnight, List.of(Dimension.NODE));
        // Then
        assertThat(new UsageHistory(small, days).sums(query))
                .extracting(row -> row.group() + " " + row.gpuSeconds())
                .containsExactly("{node=} 2.000", "{node=n1} 500.000");
    }

    @Test
    void dayOfWhichOnlyAPartIsWrittenIsAnsweredFromItsIntervals() throws IOException {
        // Given a replica that was killed while it wrote the sums of yesterday
        Instant midnight = UsageHistory.start(TODAY);
        var small =
                new UsageLog(new Ledger(_ -> {}), Clock.fixed(midnight.plusSeconds(1_800), ZoneOffset.UTC), 2 * PIECE);
        for (int i = 0; i < 5; i++) {
            small.add(piece("i" + i, midnight.minusSeconds(3_600 - i), 100, 1));
        }
        small.loaded();
        days.add(sum(TODAY.minusDays(2), "allocated", 2_000));
        days.add(sum(TODAY.minusDays(1), "allocated-while-faulty", 4_000));
        // When
        var query = new UsageSumReader.Query(midnight.minusSeconds(2 * 86_400L), midnight, List.of());
        // Then
        assertThat(new UsageHistory(small, days).sums(query))
                .extracting(UsageSumReader.UsageSum::gpuSeconds)
                .containsExactly(new BigDecimal("502.000"));
    }

    @Test
    void daysAreGroupedByNodeOwnerProductAndLabelsAndOldRecordsNameNone() throws IOException {
        // Given
        days.add(sum(TODAY.minusDays(100), "allocated", 1_000));
        days.add(divided(sum(TODAY.minusDays(90), "allocated", 2_000)));
        used("a", TEN_DAYS_AGO, 8, 1);
        Instant begin = NOW.minusSeconds(100 * 86_400L + 43_200);
        // Then
        assertThat(answer(begin, NOW, Dimension.NODE, Dimension.OWNER, Dimension.PRODUCT))
                .containsExactly("   1.000 1", "n1 Job/train NVIDIA-A100 10.000 2");
        var byLabels = new UsageSumReader.Query(begin, NOW, List.of(), List.of("team", "app"));
        assertThat(history.sums(byLabels))
                .extracting(row -> row.group() + " " + row.gpuSeconds())
                .containsExactly("{label:team=, label:app=} 1.000", "{label:team=vision, label:app=} 10.000");
    }

    @Test
    void sumOfAnEarlierReleaseIsDividedOnce() throws IOException {
        used("a", TEN_DAYS_AGO, 8, 1);
        days.add(sum(TODAY.minusDays(10), "allocated", 8_000));
        // When
        summation.run();
        summation.run();
        // Then
        assertThat(written).containsExactly(divided(sum(TODAY.minusDays(10), "allocated", 8_000)));
    }

    @Test
    void partsBeyondTheMemoryAreLeftOutOfTheOldestDaysAndNotWrittenAgain() throws IOException {
        var few = new DailySums(divided(sum(TODAY, "allocated", 1)).partBytes());
        few.loaded();
        var again = new DailySummation(
                log,
                few,
                active,
                sum -> {
                    written.add(sum);
                    few.add(sum);
                },
                clock);
        used("a", TEN_DAYS_AGO, 8, 1);
        used("b", TEN_DAYS_AGO.plusSeconds(86_400), 8, 1);
        // When
        again.run();
        again.run();
        // Then
        assertThat(written).hasSize(2);
        assertThat(few.within(TODAY.minusDays(20), TODAY))
                .extracting(sum -> sum.parts().size())
                .containsExactly(0, 1);
    }

    @Test
    void replicaThatBeginsToActSumsEveryDayThenTheNewestEachTimeAndTheOthersInTurn() throws IOException {
        // Given
        Instant yesterday = TEN_DAYS_AGO.plusSeconds(9 * 86_400L);
        used("old", TEN_DAYS_AGO, 8, 1);
        used("new", yesterday, 8, 1);
        // When
        summation.runDue();
        // Then
        assertThat(written).extracting(DailySum::day).containsExactly(TODAY.minusDays(10), TODAY.minusDays(1));
        // When an adjustment of each is late
        used("old/1", TEN_DAYS_AGO, 1, -1);
        used("new/1", yesterday, 1, -1);
        summation.runDue();
        // Then
        assertThat(written).hasSize(3);
        assertThat(written.getLast().day()).isEqualTo(TODAY.minusDays(1));
        // When
        for (int run = 1; run < 35; run++) {
            summation.runDue();
        }
        // Then
        assertThat(written).hasSize(4);
        assertThat(written.getLast())
                .isEqualTo(divided(new DailySum(TODAY.minusDays(10), "ml", "A100", "allocated", 7_000, 2)));
        // When it did not act meanwhile
        active.end();
        summation.runDue();
        used("old/2", TEN_DAYS_AGO, 1, -1);
        active.begin(() -> true);
        summation.runDue();
        // Then
        assertThat(written).hasSize(5);
    }

    @Test
    void whatDaysCannotTellIsRefused() {
        days.add(sum(TODAY.minusDays(100), "allocated", 1_000));
        Instant begin = NOW.minusSeconds(90 * 86_400L + 43_200);
        assertThatThrownBy(() -> answer(begin.plusSeconds(1), NOW)).hasMessageContaining("midnight UTC");
        assertThatThrownBy(() -> answer(begin, begin.plusSeconds(1))).hasMessageContaining("midnight UTC");
        assertThatThrownBy(() -> answer(begin, NOW, Dimension.POD)).hasMessageContaining("take no group-by pod");
        assertThatThrownBy(() -> answer(Instant.parse("0001-01-01T00:00:00Z"), NOW))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("since when usage is known");
    }

    @Test
    void nothingIsSummedOrAnsweredFromDaysBeforeTheyAreRead() {
        var unread = new DailySums(1_000_000);
        unread.add(sum(TODAY.minusDays(100), "allocated", 1_000));
        var query = new UsageSumReader.Query(NOW.minusSeconds(90 * 86_400L + 43_200), NOW, List.of());
        assertThatThrownBy(() -> new UsageHistory(log, unread).sums(query)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> new DailySummation(log, unread, active, written::add, clock).run())
                .isInstanceOf(IOException.class);
        assertThat(written).isEmpty();
    }
}
