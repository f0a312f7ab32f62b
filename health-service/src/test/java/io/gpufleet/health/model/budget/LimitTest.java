package io.gpufleet.health.model.budget;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class LimitTest {
    @Test
    void atLeastOneMayBeOutAndNeverMoreThanTheSmallerNumber() {
        assertThat(Limit.percent(10).of(0)).isEqualTo(1);
        assertThat(Limit.percent(10).of(19)).isEqualTo(1);
        assertThat(Limit.percent(10).of(200)).isEqualTo(20);
        assertThat(new Limit(10, 5).of(200)).isEqualTo(5);
    }

    @Test
    void noLimitIsNoneWhereNoNodeIsCountedYet() {
        assertThat(Limit.NONE.of(0)).isEqualTo(Integer.MAX_VALUE);
        assertThat(new Limit(100, 3).of(0)).isEqualTo(3);
    }
}
