package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.VerdictToNodeLatency.Hop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class VerdictToNodeLatencyTest {
    private final AtomicLong millis = new AtomicLong();
    private final List<String> measured = new ArrayList<>();
    private final VerdictToNodeLatency timings = new VerdictToNodeLatency(
            () -> millis.get() * 1_000_000, (hop, time) -> measured.add(hop + " " + time.toMillis()));

    private void patch(long revision, long sentAt, long ackedAt) {
        millis.set(sentAt);
        long sent = timings.sending();
        millis.set(ackedAt);
        timings.acked("node-1", revision, sent);
    }

    private void watched(long revision, long at) {
        millis.set(at);
        timings.watched("node-1", revision);
    }

    @Test
    void everyHopOfAPatchedVerdictIsMeasuredOnce() {
        // When
        timings.committed("node-1", 7);
        patch(7, 3, 8);
        watched(7, 9);
        // A repair of the Node later, and what the watch has of it.
        patch(7, 500, 501);
        watched(7, 502);

        // Then
        assertThat(measured)
                .containsExactly(Hop.COMMITTED_TO_SENT + " 3", Hop.SENT_TO_ACKED + " 5", Hop.ACKED_TO_WATCHED + " 1");
    }

    @Test
    void watchThatIsFasterThanTheAnswerTakesNoTime() {
        timings.committed("node-1", 7);
        watched(7, 4);
        patch(7, 3, 8);

        assertThat(measured).endsWith(Hop.ACKED_TO_WATCHED + " 0");
    }

    @Test
    void patchThatWasSentBeforeTheCommitIsNotMeasured() {
        millis.set(3);
        long sent = timings.sending();
        millis.set(5);
        timings.committed("node-1", 7);
        millis.set(8);
        timings.acked("node-1", 7, sent);

        assertThat(measured).isEmpty();
    }

    @Test
    void verdictThatIsOvertakenIsNotMeasured() {
        timings.committed("node-1", 7);
        timings.committed("node-1", 8);
        patch(7, 3, 8);
        watched(7, 9);

        assertThat(measured).isEmpty();
    }
}
