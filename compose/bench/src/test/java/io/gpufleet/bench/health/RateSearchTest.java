package io.gpufleet.bench.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class RateSearchTest {
    private final RateSearch search = new RateSearch();

    private List<Integer> tried(int first, int limit) {
        List<Integer> tried = new ArrayList<>();
        OptionalInt rate = OptionalInt.of(first);
        while (rate.isPresent()) {
            tried.add(rate.getAsInt());
            rate = search.next(rate.getAsInt(), rate.getAsInt() <= limit);
        }
        return tried;
    }

    @Test
    void goesUpUntilARateFails() {
        assertThat(tried(1_000, 1_250)).containsExactly(1_000, 1_100, 1_210, 1_331);
        assertThat(search.highest()).isEqualTo(1_210);
    }

    @Test
    void goesDownUntilARateSucceeds() {
        assertThat(tried(1_000, 850)).containsExactly(1_000, 900, 810);
        assertThat(search.highest()).isEqualTo(810);
    }

    @Test
    void endsWhereNoRateSucceeds() {
        assertThat(tried(120, 0)).containsExactly(120, 108);
        assertThat(search.highest()).isZero();
    }
}
