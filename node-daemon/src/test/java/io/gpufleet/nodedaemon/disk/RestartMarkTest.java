package io.gpufleet.nodedaemon.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that ends itself does so once an hour, whatever starts in between. */
class RestartMarkTest {
    private static final Instant NOON = Instant.parse("2026-11-20T12:00:00Z");

    @TempDir
    private Path directory;

    @Test
    void onceAnHourIsAllowed() {
        var mark = new RestartMark(directory.resolve("run"));

        assertThat(mark.allows(NOON)).isTrue();
        assertThat(new RestartMark(directory.resolve("run")).allows(NOON.plus(Duration.ofMinutes(59))))
                .isFalse();
        assertThat(mark.allows(NOON.plus(Duration.ofMinutes(60)))).isTrue();
        assertThat(mark.allows(NOON.plus(Duration.ofMinutes(119)))).isFalse();
    }

    @Test
    void whatCanNotBeMarkedIsNotAllowed() {
        assertThat(new RestartMark(Path.of("/proc/no-such-place")).allows(NOON)).isFalse();
    }
}
