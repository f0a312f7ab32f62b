package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.health.app.NodeMarks.Answer;
import io.gpufleet.health.model.FaultCode;
import io.gpufleet.health.model.FoundNode.Taint;
import io.gpufleet.health.model.Policies;
import io.gpufleet.health.model.Story;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReconcilerTest {
    private final FakeNodes nodes = new FakeNodes();
    private final HeardSignals signals = new HeardSignals();
    private final Reconciler reconciler = new Reconciler(
            new MarksStep(nodes, signals, new ReconcileCounters(), Clock.systemUTC(), Duration.ofSeconds(10)),
            signals,
            Duration.ofHours(1));
    private final Story story = new Story(Policies.standard())
            .announced("gpu-0", "gpu-1")
            .nodeObject("uid-1")
            .xid("gpu-0", 79);

    @AfterEach
    void close() {
        reconciler.close();
    }

    @Test
    void aStandbyWritesNothingUntilItIsActive() {
        // Given
        reconciler.verdict(story.verdict());
        reconciler.nodeChanged(FakeNodes.NODE);
        assertThat(nodes.calls).isEmpty();

        // When
        reconciler.activate();

        // Then
        await().untilAsserted(() -> assertThat(nodes.node().taints()).containsExactly(Taint.ours("Xid79")));
    }

    @Test
    void aNewVerdictIsActedUponAtOnce() {
        reconciler.activate();
        reconciler.verdict(story.verdict());
        await().untilAsserted(() -> assertThat(nodes.node().taints()).isNotEmpty());

        reconciler.verdict(story.cleared("gpu-0", FaultCode.xid(79)).verdict());

        await().untilAsserted(() -> assertThat(nodes.node().taints()).isEmpty());
    }

    @Test
    void whatDidNotWorkIsTriedAgain() {
        reconciler.activate();
        nodes.answers.add(new Answer.Away("connection refused"));

        reconciler.verdict(story.verdict());

        await().untilAsserted(() -> assertThat(nodes.node().taints()).containsExactly(Taint.ours("Xid79")));
    }

    @Test
    void aNodeWhoseMarksAndNoteWereTakenAwayIsMarkedAgainWhenItChanges() {
        // Given
        reconciler.activate();
        reconciler.verdict(story.verdict());
        await().untilAsserted(() -> assertThat(nodes.calls).contains("event Xid79"));

        // When
        nodes.change(new FakeNodes().node());
        nodes.seen();
        reconciler.nodeChanged(FakeNodes.NODE);

        // Then
        await().untilAsserted(() -> assertThat(nodes.node().taints()).containsExactly(Taint.ours("Xid79")));
    }

    @Test
    void nothingActsAnyMoreOnceItIsDeactivated() {
        reconciler.activate();
        reconciler.deactivate();
        reconciler.verdict(story.verdict());
        reconciler.nodeGone(FakeNodes.NODE, "uid-1");

        assertThat(nodes.calls).isEmpty();
        assertThat(signals.heard).isEmpty();
    }
}
