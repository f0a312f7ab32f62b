package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.second;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SetbackTest {
    private final Setback setback = new Setback();

    private boolean fails(String failure, double at) {
        return setback.isNews(failure, second(at).nanos());
    }

    @Test
    void pauseDoublesFromASecondToHalfAMinute() {
        assertThat(IntStream.range(0, 8).mapToObj(i -> {
                    fails("no", i * 30);
                    return setback.pause().toSeconds();
                }))
                .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L, 30L);
    }

    @Test
    void sameFailureIsNewsOnceAndAnotherOneAgain() {
        assertThat(fails("no", 0)).isTrue();
        assertThat(fails("no", 1)).isFalse();
        assertThat(fails("never", 3)).isTrue();
        assertThat(fails("never", 7)).isFalse();
        assertThat(fails("no", 15)).isTrue();
    }

    @Test
    void failureLongAfterTheLastIsTheFirstOfItsKind() {
        fails("no", 0);
        fails("no", 1);
        assertThat(fails("no", 120)).isFalse();
        assertThat(setback.pause()).isEqualTo(Duration.ofSeconds(4));

        assertThat(fails("no", 240)).isTrue();
        assertThat(setback.pause()).isEqualTo(Duration.ofSeconds(1));
    }
}
