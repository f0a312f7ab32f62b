package io.gpufleet.nodedaemon.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Restarts are limited to one an hour. */
class RestartRateLimitTest {
    private static final Instant NOON = Instant.parse("2026-11-20T12:00:00Z");

    @TempDir
    private Path directory;

    @Test
    void onceAnHourIsAllowed() {
        var limit = new RestartRateLimit(directory.resolve("run"));

        assertThat(limit.tryAcquire(NOON)).isTrue();
        assertThat(new RestartRateLimit(directory.resolve("run")).tryAcquire(NOON.plus(Duration.ofMinutes(59))))
                .isFalse();
        assertThat(limit.tryAcquire(NOON.plus(Duration.ofMinutes(60)))).isTrue();
        assertThat(limit.tryAcquire(NOON.plus(Duration.ofMinutes(119)))).isFalse();
    }

    @Test
    void restartThatCannotBeRecordedIsNotAllowed() {
        assertThat(new RestartRateLimit(Path.of("/proc/no-such-place")).tryAcquire(NOON))
                .isFalse();
    }
}
