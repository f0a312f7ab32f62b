package io.gpufleet.nodedaemon.app.device;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private final Backoff backoff = new Backoff(Backoff.FIRST);

    private boolean fails(String failure, double at) {
        return backoff.isNewFailure(failure, second(at).nanos());
    }

    @Test
    void delayDoublesFromOneToThirtySeconds() {
        assertThat(IntStream.range(0, 8).mapToObj(i -> {
                    fails("no", i * 30);
                    return backoff.delay().toSeconds();
                }))
                .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L, 30L);
    }

    @Test
    void sameFailureIsReportedOnceAndAnotherOneAgain() {
        assertThat(fails("no", 0)).isTrue();
        assertThat(fails("no", 1)).isFalse();
        assertThat(fails("never", 3)).isTrue();
        assertThat(fails("never", 7)).isFalse();
        assertThat(fails("no", 15)).isTrue();
    }

    @Test
    void failureLongAfterTheLastStartsOver() {
        fails("no", 0);
        fails("no", 1);
        assertThat(fails("no", 120)).isFalse();
        assertThat(backoff.delay()).isEqualTo(Duration.ofSeconds(4));

        assertThat(fails("no", 240)).isTrue();
        assertThat(backoff.delay()).isEqualTo(Duration.ofSeconds(1));
    }
}
