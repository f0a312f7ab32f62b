package io.gpufleet.runtime.workqueue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class BackoffTest {
    private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    @Test
    void waitDoublesWithEachFailureUpToTheLimit() {
        assertThat(IntStream.rangeClosed(1, 7)
                        .mapToObj(failures -> BACKOFF.after(failures, 1).toSeconds()))
                .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
        assertThat(BACKOFF.after(Integer.MAX_VALUE, 1)).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void waitIsSpreadOverItsUpperHalf() {
        assertThat(BACKOFF.after(4, 0)).isEqualTo(Duration.ofSeconds(4));
        assertThat(BACKOFF.after(4, 0.5)).isEqualTo(Duration.ofSeconds(6));
        assertThat(BACKOFF.after(4, 1)).isEqualTo(Duration.ofSeconds(8));
    }
}
