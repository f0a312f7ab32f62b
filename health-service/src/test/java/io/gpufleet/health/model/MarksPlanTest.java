package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.FoundNode.Condition;
import io.gpufleet.health.model.FoundNode.Facts;
import io.gpufleet.health.model.FoundNode.Taint;
import java.util.List;
import org.junit.jupiter.api.Test;

class MarksPlanTest {
    private static final Taint BUSY = new Taint("example.com/busy", "yes", "NoExecute", "2026-01-01T00:00:00Z");
    private static final Condition FINE = new Condition("False", "GpusHealthy", "every GPU may be used");

    private final Story story = new Story(Policies.standard())
            .announced("gpu-0", "gpu-1")
            .nodeObject("uid-1")
            .xid("gpu-0", 79);

    private WantedMarks wanted() {
        return WantedMarks.of(story.verdict());
    }

    private static FoundNode bare(Taint... taints) {
        return new FoundNode(
                "node-1",
                new Facts("uid-1", "", true, false, true),
                "7",
                List.of(taints),
                "",
                "",
                MarksNote.NONE,
                null);
    }

    /** The node once a plan was carried out. */
    private static FoundNode after(FoundNode found, MarksPlan.Write write, WantedMarks wanted) {
        return new FoundNode(
                found.name(),
                found.facts(),
                "8",
                write.taints(),
                write.label(),
                write.nextStep(),
                write.note(),
                write.condition() ? wanted.condition() : found.condition());
    }

    private static MarksPlan.Write write(MarksPlan plan) {
        assertThat(plan).isInstanceOf(MarksPlan.Write.class);
        return (MarksPlan.Write) plan;
    }

    @Test
    void aNodeOutOfServiceGetsEveryMarkBesideThoseOfOthers() {
        MarksPlan.Write write = write(MarksPlan.of(bare(BUSY), wanted()));

        assertThat(write.taints()).containsExactly(BUSY, Taint.ours("Xid79"));
        assertThat(write.label()).isEqualTo("quarantined");
        assertThat(write.nextStep()).isEqualTo("reboot");
        assertThat(write.note().revision()).isEqualTo(story.state().revision());
        assertThat(write.condition()).isTrue();
    }

    @Test
    void aNodeThatWearsWhatIsWantedIsNotTouched() {
        FoundNode marked = after(bare(BUSY), write(MarksPlan.of(bare(BUSY), wanted())), wanted());

        assertThat(MarksPlan.of(marked, wanted())).isEqualTo(new MarksPlan.Nothing());
    }

    @Test
    void whatWasOursGoesAndWhatIsOthersStays() {
        // Given
        FoundNode marked = after(bare(BUSY), write(MarksPlan.of(bare(BUSY), wanted())), wanted());
        story.cleared("gpu-0", FaultCode.xid(79));

        // When
        MarksPlan.Write write = write(MarksPlan.of(marked, wanted()));

        // Then
        assertThat(write.taints()).containsExactly(BUSY);
        assertThat(write.label()).isEmpty();
        assertThat(write.nextStep()).isEmpty();
        assertThat(write.note()).isEqualTo(MarksNote.NONE);
        assertThat(after(marked, write, wanted()).condition()).isEqualTo(FINE);
    }

    @Test
    void aTaintOfSomebodyElseInOurPlaceStaysAndIsReported() {
        Taint theirs = Taint.ours("theirs");

        MarksPlan.Write write = write(MarksPlan.of(bare(theirs), wanted()));

        assertThat(write.taints()).containsExactly(theirs);
        assertThat(write.note().taint()).isEmpty();
        assertThat(write.foreign()).containsExactly("taint gpufleet.io/unhealthy:NoSchedule");
        FoundNode marked = after(bare(theirs), write, wanted());
        assertThat(MarksPlan.of(marked, wanted())).isEqualTo(new MarksPlan.Nothing());
        story.cleared("gpu-0", FaultCode.xid(79));
        assertThat(write(MarksPlan.of(marked, wanted())).taints()).containsExactly(theirs);
    }

    @Test
    void aTaintThatOurNoteListsAndThatIsGoneIsAQuestion() {
        FoundNode marked = after(bare(), write(MarksPlan.of(bare(), wanted())), wanted());
        var without = new FoundNode(
                marked.name(),
                marked.facts(),
                "9",
                List.of(),
                marked.label(),
                marked.nextStep(),
                marked.note(),
                marked.condition());

        assertThat(MarksPlan.of(without, wanted()))
                .isEqualTo(new MarksPlan.Missing("taint", story.state().revision()));
    }

    @Test
    void aTaintIsWrittenAgainWhereTheNoteIsGoneToo() {
        assertThat(write(MarksPlan.of(bare(), wanted())).taints()).containsExactly(Taint.ours("Xid79"));
    }

    @Test
    void whoFindsANewerRevisionWritesNothing() {
        FoundNode marked = after(bare(), write(MarksPlan.of(bare(), wanted())), wanted());
        WantedMarks older = new WantedMarks(0, "uid-1", "", "", "", FINE);

        assertThat(MarksPlan.of(marked, older))
                .isEqualTo(new MarksPlan.Outdated(story.state().revision()));
    }

    @Test
    void marksNeverPassToAnotherMachineOfTheName() {
        var other = new FoundNode(
                "node-1", new Facts("uid-2", "", true, false, true), "7", List.of(), "", "", MarksNote.NONE, null);

        assertThat(MarksPlan.of(other, wanted())).isEqualTo(new MarksPlan.OtherNode("uid-2"));
    }

    @Test
    void aNodeThatIsOptedOutIsLeftAlone() {
        var out = new FoundNode(
                "node-1", new Facts("uid-1", "", true, false, false), "7", List.of(), "", "", MarksNote.NONE, null);

        assertThat(MarksPlan.of(out, wanted())).isEqualTo(new MarksPlan.OptedOut());
    }

    @Test
    void aHealthyNodeThatNeverWoreAnythingIsNotTouched() {
        var healthy = new Story(Policies.standard()).announced("gpu-0").nodeObject("uid-1");

        assertThat(MarksPlan.of(bare(BUSY), WantedMarks.of(healthy.verdict()))).isEqualTo(new MarksPlan.Nothing());
    }

    @Test
    void anotherReasonReplacesOurTaintOnly() {
        FoundNode marked = after(bare(BUSY), write(MarksPlan.of(bare(BUSY), wanted())), wanted());
        story.xid("gpu-1", 54);

        assertThat(write(MarksPlan.of(marked, wanted())).taints()).containsExactly(BUSY, Taint.ours("Xid54"));
    }
}
