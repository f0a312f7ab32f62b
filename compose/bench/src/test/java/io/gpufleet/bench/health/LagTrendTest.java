package io.gpufleet.bench.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LagTrendTest {
    private final LagTrend trend = new LagTrend();

    @Test
    void growthIsThatOfTheWholeLoad() {
        for (int second = 0; second < 30; second++) {
            trend.add(second, 500 + 40 * second + (second % 2 == 0 ? 100 : -100));
        }

        assertThat(trend.growth()).isCloseTo(40, within(2.0));
        assertThat(trend.flat(1_000)).isFalse();
        assertThat(trend.flat(10_000)).isTrue();
    }

    @Test
    void lagThatShrinksIsFlat() {
        trend.add(5, 9_000);
        trend.add(6, 100);

        assertThat(trend.flat(1_000)).isTrue();
        assertThat(trend.lags()).containsExactly(9_000.0, 100.0);
    }

    @Test
    void oneSampleHasNoGrowth() {
        trend.add(5, 9_000);

        assertThat(trend.growth()).isZero();
    }
}
