package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Liveness of the quota decider. */
class DeciderHealthTest {
    private long now = 1;
    private final DeciderHealth health = new DeciderHealth(() -> now);

    private void turns(boolean sound, Duration time) {
        for (long end = now + time.toNanos();
                now < end;
                now += Duration.ofMillis(250).toNanos()) {
            health.turned(sound);
        }
    }

    @Test
    void singleFailureIsCountedAndPasses() {
        health.failed(new IllegalStateException("one request"));
        turns(false, Duration.ofSeconds(1));
        turns(true, Duration.ofSeconds(60));
        assertThat(health.failures()).isEqualTo(1);
        assertThat(health.livenessFailures()).isEmpty();
    }

    @Test
    void failureThatStaysIsAReasonToRestart() {
        health.failed(new IllegalStateException("broken for good"));
        turns(false, Duration.ofSeconds(31));
        assertThat(health.livenessFailures()).singleElement().asString().contains("broken for good");
    }

    @Test
    void threadThatHangsIsAReasonToRestart() {
        turns(true, Duration.ofSeconds(1));
        now += Duration.ofSeconds(31).toNanos();
        assertThat(health.livenessFailures()).singleElement().asString().contains("has not answered for 31 s");
    }
}
