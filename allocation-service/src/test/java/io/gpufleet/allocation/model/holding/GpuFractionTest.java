package io.gpufleet.allocation.model.holding;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Parts of a GPU. */
class GpuFractionTest {
    @Test
    void migDeviceHasItsComputeSlices() {
        assertThat(GpuFraction.of("A100", "1g.5gb", 1)).isEqualTo(new GpuFraction(1, 7));
        assertThat(GpuFraction.of("H100", "3g.40gb", 1)).isEqualTo(new GpuFraction(3, 7));
        assertThat(GpuFraction.of("H100", "1g.10gb+me", 1)).isEqualTo(new GpuFraction(1, 7));
        assertThat(GpuFraction.of("H100", "1c.3g.40gb", 1)).isEqualTo(new GpuFraction(1, 7));
        assertThat(GpuFraction.of("A30", "2g.12gb", 1)).isEqualTo(new GpuFraction(2, 4));
    }

    @Test
    void shareOfAMigDeviceIsAPartOfItsPart() {
        assertThat(GpuFraction.of("A100", "1g.5gb", 3)).isEqualTo(new GpuFraction(1, 21));
        assertThat(GpuFraction.of("A100", "", 4)).isEqualTo(new GpuFraction(1, 4));
        assertThat(GpuFraction.of("A100", "", 0)).isEqualTo(GpuFraction.WHOLE);
    }

    @Test
    void sevenSlicesOfOneGpuAreOneGpuSecondASecond() {
        var from = Instant.ofEpochSecond(1_700_000_000L);
        long seven = 7 * GpuTime.millis(from, from.plusSeconds(7_000), GpuFraction.of("A100", "1g.5gb", 1));
        assertThat(seven).isBetween(7_000_000L - 7, 7_000_000L + 7);
    }
}
