package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Silence of daemons. */
class DaemonSilenceTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");
    private final DaemonSilence silence = new DaemonSilence();

    private List<String> silentAt(Instant now, Duration readFor) {
        return silence.silent(_ -> readFor, node -> !node.equals("idle"), now);
    }

    @Test
    void daemonThatIsNotHeardIsSilent() {
        silence.heard("n1", NOW);
        silence.heard("idle", NOW);
        silence.heard("n2", NOW.plusSeconds(60));
        assertThat(silentAt(NOW.plusSeconds(180), Duration.ofHours(1))).isEmpty();
        assertThat(silentAt(NOW.plusSeconds(181), Duration.ofHours(1))).containsExactly("n1");
        assertThat(silence.lastWord("n1")).contains(NOW);
    }

    @Test
    void unreadHeartbeatsAreNoSilence() {
        silence.heard("n1", NOW);
        assertThat(silentAt(NOW.plusSeconds(600), Duration.ZERO)).isEmpty();
    }

    @Test
    void daemonThatWasNotHeardInTheTermIsSilentFromItsRecordedTime() {
        silence.restarted(List.of("n1"), NOW);
        assertThat(silentAt(NOW.plusSeconds(181), Duration.ofHours(1))).containsExactly("n1");
        assertThat(silence.lastWord("n1")).isEmpty();
    }
}
