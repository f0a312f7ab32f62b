package io.gpufleet.allocation.model.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.allocation.model.devicetime.DeviceCondition;
import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Sums of a day and their parts. */
class DailySumBuilderTest {
    private static final LocalDate DAY = LocalDate.parse("2026-11-19");
    private static final Instant MIDNIGHT = Instant.parse("2026-11-19T00:00:00Z");

    private static UsagePiece piece(String id, String owner, int shareOf, long from, long to, int sign) {
        var holding = new Holding(
                new Holder("ml", "p", "u", "c", "nvidia.com/gpu"),
                new HeldDevice("g0", new DeviceSlot("g0", 0), "A100", shareOf, ""));
        return new UsagePiece(
                id,
                "n1",
                holding,
                UsageAttributes.of("NVIDIA-A100", owner, Map.of("team", "of-" + owner)),
                MIDNIGHT.plusSeconds(from),
                MIDNIGHT.plusSeconds(to),
                "allocated",
                holding.device().weight(sign));
    }

    @Property(tries = 200)
    void partsAddUpToTheSum(@ForAll long seed) {
        var random = new Random(seed);
        var usage = new DailySumBuilder(DAY, Integer.MAX_VALUE);
        int owners = 1 + random.nextInt(random.nextInt(10) == 0 ? 1_500 : 10);
        for (int i = 0; i < 3 * owners; i++) {
            long from = random.nextInt(100_000) - 10_000;
            usage.add(piece(
                    "i" + i,
                    "Job/" + random.nextInt(owners),
                    1 + random.nextInt(7),
                    from,
                    from + random.nextInt(5_000),
                    random.nextInt(5) == 0 ? -1 : 1));
        }
        usage.sums().forEach(sum -> {
            assertThat(sum.parts()).hasSizeBetween(1, 1_000);
            assertThat(sum.parts().stream().mapToLong(DailySum.Part::gpuMillis).sum())
                    .isEqualTo(sum.gpuMillis());
            assertThat(sum.parts().stream().mapToLong(DailySum.Part::intervals).sum())
                    .isEqualTo(sum.intervals());
        });
    }

    @Test
    void smallestPartsBeyondTheBoundAreOneThatNamesNothing() {
        var usage = new DailySumBuilder(DAY, Integer.MAX_VALUE);
        for (int owner = 0; owner < 1_100; owner++) {
            usage.add(piece("i" + owner, "Job/" + owner, 1, 0, owner + 1L, 1));
        }
        DailySum sum = usage.sums().getFirst();
        assertThat(sum.parts()).hasSize(1_000);
        assertThat(sum.parts().getFirst().attributes().owner()).isEqualTo("Job/1099");
        assertThat(sum.parts().getLast())
                .isEqualTo(new DailySum.Part("", UsageAttributes.NONE, 101 * 102 / 2 * 1_000L, 101));
    }

    @Test
    void longLabelsMakeFewerParts() {
        var usage = new DailySumBuilder(DAY, Integer.MAX_VALUE);
        for (int owner = 0; owner < 900; owner++) {
            usage.add(piece("i" + owner, owner + "/" + "o".repeat(600), 1, 0, owner + 1L, 1));
        }
        DailySum sum = usage.sums().getFirst();
        assertThat(sum.partBytes()).isBetween(200 * 1_024, 257 * 1_024);
        assertThat(sum.parts().getLast().node()).isEmpty();
    }

    @Test
    void ownersBeyondTheKeysAreOnePartWhileTheSumStaysExact() {
        var usage = new DailySumBuilder(DAY, 2);
        for (int owner = 0; owner < 10; owner++) {
            usage.add(piece("i" + owner, "Job/" + owner, 1, 0, 10, 1));
        }
        DailySum sum = usage.sums().getFirst();
        assertThat(sum.gpuMillis()).isEqualTo(100_000);
        assertThat(sum.parts()).hasSize(3);
    }

    @Test
    void onlyWhatIsWithinTheDayIsAdded() {
        var usage = new DailySumBuilder(DAY, Integer.MAX_VALUE);
        usage.add(piece("a", "Job/a", 1, -100, 50, 1));
        usage.add(piece("b", "Job/a", 1, 86_390, 86_500, 1));
        usage.add(piece("c", "Job/a", 1, 90_000, 90_001, 1));
        assertThat(usage.sums())
                .singleElement()
                .extracting(DailySum::gpuMillis, DailySum::intervals)
                .containsExactly(60_000L, 2L);
    }

    @Test
    void timeThatNobodyHoldsHasSumsOfItsOwnWithoutANamespace() {
        var usage = new DailySumBuilder(DAY, Integer.MAX_VALUE);
        var gpu = new GpuIdentity("g0", "A100", "NVIDIA-A100");
        usage.add(UsagePiece.of(
                "n1",
                new DeviceInterval(
                        "there",
                        gpu,
                        DeviceCondition.IDLE,
                        MIDNIGHT.minusSeconds(500),
                        MIDNIGHT.plusSeconds(1_000),
                        GpuFraction.WHOLE)));
        usage.add(UsagePiece.of(
                "n1",
                new DeviceInterval(
                        "out",
                        gpu,
                        DeviceCondition.QUARANTINED,
                        MIDNIGHT.plusSeconds(900),
                        MIDNIGHT.plusSeconds(950),
                        GpuFraction.WHOLE)));
        UsagePiece held = piece("held", "Job/a", 2, 100, 200, 1);
        usage.add(new UsagePiece(
                held.id(),
                held.node(),
                held.holding(),
                held.attributes().withReducesIdle(true),
                held.from(),
                held.to(),
                held.quality(),
                held.weight()));
        assertThat(usage.sums())
                .extracting(DailySum::key, DailySum::gpuMillis, DailySum::intervals)
                .containsExactly(
                        tuple("2026-11-19//A100/idle", 900_000L, 1L),
                        tuple("2026-11-19//A100/quarantined", 50_000L, 1L),
                        tuple("2026-11-19/ml/A100/allocated", 50_000L, 1L));
        assertThat(usage.sums()).allSatisfy(sum -> assertThat(sum.parts()).hasSize(1));
        assertThat(usage.sums().getFirst().unbilled()).isTrue();
    }
}
