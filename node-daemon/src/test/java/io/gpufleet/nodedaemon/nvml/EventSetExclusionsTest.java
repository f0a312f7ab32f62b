package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventSetExclusionsTest {
    private long nanos;
    private final EventSetExclusions exclusions = new EventSetExclusions(() -> nanos);

    @Test
    void gpuThatKeepsFailingIsTriedMoreAndMoreRarely() {
        exclusions.failed("a");

        List<Long> trials = new ArrayList<>();
        for (;
                nanos < Duration.ofMinutes(40).toNanos();
                nanos += Duration.ofSeconds(1).toNanos()) {
            if (exclusions.isDue("a")) {
                exclusions.failed("a");
                trials.add(Duration.ofNanos(nanos).toSeconds());
            }
        }

        assertThat(trials).containsExactly(5L, 15L, 35L, 75L, 155L, 315L, 635L, 1235L, 1835L);
    }

    @Test
    void gpuThatPassedIsExcludedNoLongerAndBeginsAnew() {
        exclusions.failed("a");
        exclusions.failed("a");
        exclusions.passed("a");
        assertThat(exclusions.contains("a")).isFalse();

        exclusions.failed("a");
        nanos = Duration.ofSeconds(5).toNanos();

        assertThat(exclusions.isDue("a")).isTrue();
        assertThat(exclusions.isDue("b")).isFalse();
    }
}
