package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.MarksStep.Next;
import io.gpufleet.health.app.NodeMarks.Answer;
import io.gpufleet.health.model.FaultCode;
import io.gpufleet.health.model.FoundNode.Taint;
import io.gpufleet.health.model.Policies;
import io.gpufleet.health.model.Story;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class MarksStepTest {
    private static final Taint BUSY = new Taint("example.com/busy", "", "NoSchedule", "");

    private final FakeNodes nodes = new FakeNodes();
    private final HeardSignals signals = new HeardSignals();
    private final ReconcileCounters counters = new ReconcileCounters();
    private final HandClock clock = new HandClock();
    private final MarksStep step = new MarksStep(nodes, signals, counters, clock, Duration.ofSeconds(10));
    private final Story story = new Story(Policies.standard())
            .announced("gpu-0", "gpu-1")
            .nodeObject("uid-1")
            .xid("gpu-0", 79);

    private Next make() {
        return step.make(story.verdict(), 0);
    }

    @Test
    void aFaultCostsOnePatchOfMarksAndOneOfTheConditionAndNoRead() {
        assertThat(make()).isEqualTo(new Next.Settled());

        assertThat(nodes.calls).containsExactly("marks", "condition", "event Xid79");
        assertThat(nodes.node().taints()).containsExactly(Taint.ours("Xid79"));
        assertThat(signals.heard).containsExactly("patched true");
    }

    @Test
    void aSecondLookWritesNothing() {
        make();
        nodes.calls.clear();

        assertThat(make()).isEqualTo(new Next.Settled());
        assertThat(nodes.calls).isEmpty();
    }

    @Test
    void aNodeThatChangedMeanwhileIsReadAndPatchedAnew() {
        // Given: the watch lags behind somebody's taint
        var stale = nodes.node();
        nodes.taints(BUSY);
        nodes.change(nodes.node());
        assertThat(stale.taints()).isEmpty();

        // When
        assertThat(make()).isEqualTo(new Next.Settled());

        // Then
        assertThat(nodes.calls).containsExactly("marks", "read", "marks", "condition", "event Xid79");
        assertThat(nodes.node().taints()).containsExactly(BUSY, Taint.ours("Xid79"));
        assertThat(counters.conflicts()).isEqualTo(1);
    }

    @Test
    void anApiServerThatIsAwayIsAskedAgainLaterAndLater() {
        nodes.answers.add(new Answer.Away("connection refused"));
        assertThat(step.make(story.verdict(), 0)).isEqualTo(new Next.Failed(Duration.ofSeconds(1)));

        nodes.answers.add(new Answer.Away("connection refused"));
        assertThat(step.make(story.verdict(), 3)).isEqualTo(new Next.Failed(Duration.ofSeconds(8)));

        nodes.answers.add(new Answer.Away("connection refused"));
        assertThat(step.make(story.verdict(), 60)).isEqualTo(new Next.Failed(Duration.ofSeconds(30)));
        assertThat(step.outcome(FakeNodes.NODE)).contains("connection refused");
    }

    @Test
    void aRefusalIsReportedWithItsReason() {
        nodes.answers.add(new Answer.Refused("403 nodes is forbidden"));

        assertThat(make()).isInstanceOf(Next.Failed.class);
        assertThat(signals.heard).containsExactly("patched false");
        assertThat(step.outcome(FakeNodes.NODE)).contains("403 nodes is forbidden");
    }

    @Test
    void aTaintThatIsMissingAtTwoLooksTenSecondsApartWasTakenAwayByHand() {
        // Given
        make();
        nodes.taints();

        // When, Then
        assertThat(make()).isEqualTo(new Next.LookAgain(Duration.ofSeconds(10)));
        clock.pass(Duration.ofSeconds(9));
        assertThat(make()).isEqualTo(new Next.LookAgain(Duration.ofSeconds(1)));
        assertThat(signals.heard).doesNotContain("removed taint");
        clock.pass(Duration.ofSeconds(1));
        make();
        assertThat(signals.heard).contains("removed taint");
        assertThat(nodes.node().taints()).isEmpty();
    }

    @Test
    void aTaintThatIsBackAtTheSecondLookWasNotTakenAway() {
        // Given
        make();
        nodes.taints();
        make();

        // When
        nodes.taints(Taint.ours("Xid79"));
        clock.pass(Duration.ofSeconds(10));

        // Then
        assertThat(make()).isEqualTo(new Next.Settled());
        assertThat(signals.heard).doesNotContain("removed taint");
    }

    @Test
    void aNodeObjectThatTheVerdictDoesNotKnowIsTold() {
        var unseen = new Story(Policies.standard()).announced("gpu-0", "gpu-1");

        step.make(unseen.verdict(), 0);
        step.make(unseen.verdict(), 0);

        assertThat(signals.heard).containsExactly("seen uid-1");
    }

    @Test
    void aRecoveryTakesTheMarksAwayAndTellsOfIt() {
        make();
        story.cleared("gpu-0", FaultCode.xid(79));

        make();

        assertThat(nodes.node().taints()).isEmpty();
        assertThat(nodes.calls).endsWith("marks", "condition", "event GpusHealthy");
    }

    /** A clock that is moved by hand. */
    private static final class HandClock extends Clock {
        private Instant now = Story.START;

        void pass(Duration time) {
            now = now.plus(time);
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    }
}
