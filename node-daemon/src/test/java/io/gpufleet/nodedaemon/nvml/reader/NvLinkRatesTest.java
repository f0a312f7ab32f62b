package io.gpufleet.nodedaemon.nvml.reader;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import org.junit.jupiter.api.Test;

class NvLinkRatesTest {
    private static final Reading<Double> FIRST = new Unavailable<>("first NVLink sample");

    private long nanos = 5_000_000_000L;
    private final NvLinkRates rates = new NvLinkRates(() -> nanos);

    private Reading<Double> after(double seconds, String gpu, double bytes) {
        nanos += Math.round(seconds * 1e9);
        return rates.perSecond(gpu, new Known<>(bytes));
    }

    @Test
    void rateIsThatSinceTheSampleBefore() {
        assertThat(after(0, "a", 1_000)).isEqualTo(FIRST);
        assertThat(after(10, "a", 51_000)).isEqualTo(new Known<>(5_000.0));
        assertThat(after(10, "a", 51_000)).isEqualTo(new Known<>(0.0));
    }

    @Test
    void eachGpuHasItsOwn() {
        assertThat(after(0, "a", 1_000)).isEqualTo(FIRST);
        assertThat(after(1, "b", 9_000)).isEqualTo(FIRST);
        assertThat(after(1, "a", 3_000)).isEqualTo(new Known<>(1_000.0));
    }

    @Test
    void samplesInQuickSuccessionRepeatTheRate() {
        assertThat(after(0, "a", 0)).isEqualTo(FIRST);
        assertThat(after(2, "a", 8_000)).isEqualTo(new Known<>(4_000.0));
        assertThat(after(0.01, "a", 80_000)).isEqualTo(new Known<>(4_000.0));
        assertThat(after(0.99, "a", 80_000)).isEqualTo(new Known<>(72_000.0));
    }

    @Test
    void restartedCounterIsNoRate() {
        assertThat(after(0, "a", 8_000)).isEqualTo(FIRST);
        assertThat(after(2, "a", 10)).isEqualTo(FIRST);
        assertThat(rates.perSecond("a", new Unavailable<>("no NVLink"))).isEqualTo(new Unavailable<>("no NVLink"));
        assertThat(after(2, "a", 20)).isEqualTo(FIRST);
    }
}
