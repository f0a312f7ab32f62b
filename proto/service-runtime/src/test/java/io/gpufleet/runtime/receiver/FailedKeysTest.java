package io.gpufleet.runtime.receiver;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class FailedKeysTest {
    private long nanos;
    private final FailedKeys failed = new FailedKeys(() -> nanos);

    @Test
    void keyIsShownForAMinuteByTheMonotonicClock() {
        failed.pass(
                "actor",
                (states, _) -> {
                    if (states.containsKey("n1")) {
                        throw new IllegalStateException("no patch");
                    }
                },
                Map.of("n1", 1, "n2", 2),
                Set.of());
        assertThat(failed.lines()).containsExactly("actor failed for 'n1': no patch");

        nanos += Duration.ofSeconds(59).toNanos();
        assertThat(failed.lines()).hasSize(1);

        nanos += Duration.ofSeconds(2).toNanos();
        assertThat(failed.lines()).isEmpty();
        assertThat(failed.count()).isEqualTo(1);
    }
}
