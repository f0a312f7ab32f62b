package io.gpufleet.allocation.model.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Exact sums of parts of GPUs. */
class GpuAmountTest {
    @Test
    void sevenSlicesAreOneGpu() {
        assertThat(GpuAmount.of(1, 7).times(7)).isEqualTo(GpuAmount.ONE);
        assertThat(GpuAmount.of(3, 7).plus(GpuAmount.of(1, 4))).isEqualTo(GpuAmount.of(19, 28));
        assertThat(GpuAmount.of(1, 7).minus(GpuAmount.of(1, 7))).isEqualTo(GpuAmount.ZERO);
    }

    @Test
    void whatIsAddedAndTakenOffAgainLeavesNothingWhateverTheOrder() {
        var random = new Random(4);
        GpuAmount sum = GpuAmount.ZERO;
        GpuAmount taken = GpuAmount.ZERO;
        for (int i = 0; i < 1_000; i++) {
            GpuAmount part = GpuAmount.of(1 + random.nextInt(9), 1 + random.nextInt(64));
            sum = sum.plus(part);
            taken = part.plus(taken);
        }
        assertThat(sum.minus(taken)).isEqualTo(GpuAmount.ZERO);
    }

    @Test
    void amountsAreRoundedUp() {
        assertThat(GpuAmount.of(15, 7).roundedUp()).isEqualTo(3);
        assertThat(GpuAmount.of(2).roundedUp()).isEqualTo(2);
        assertThat(GpuAmount.ZERO.roundedUp()).isZero();
        assertThat(GpuAmount.of(15, 7).decimal()).isEqualTo("2.15");
        assertThat(GpuAmount.of(20).decimal()).isEqualTo("20");
    }

    @Test
    void amountsAreWrittenAsMixedNumbers() {
        assertThat(GpuAmount.of(17, 7)).hasToString("2 3/7");
        assertThat(GpuAmount.of(3, 7)).hasToString("3/7");
        assertThat(GpuAmount.of(4, 2)).hasToString("2");
        assertThat(GpuAmount.parse(GpuAmount.of(17, 7).fraction())).isEqualTo(GpuAmount.of(17, 7));
    }

    @Test
    void partsThatFitAreCountedExactly() {
        assertThat(GpuAmount.of(3, 7).contains(GpuAmount.of(1, 7))).isEqualTo(3);
        assertThat(GpuAmount.of(13, 28).contains(GpuAmount.of(1, 4))).isEqualTo(1);
    }
}
