package io.gpufleet.health.model.nodepatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.NodeFacts;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import io.gpufleet.health.model.policy.TestPolicies;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodePatchPlanTest {
    private static final Taint BUSY = new Taint("example.com/busy", "yes", "NoExecute", "2026-01-01T00:00:00Z");
    private static final Condition FINE = new Condition("False", "GpusHealthy", "every GPU may be used");

    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard())
            .announced("gpu-0", "gpu-1")
            .nodeObserved("uid-1")
            .xid("gpu-0", 79);

    private DesiredNode desired() {
        return DesiredNode.of(scenario.verdict());
    }

    private static ObservedNode node(Taint... taints) {
        return new ObservedNode(
                "node-1",
                new NodeFacts("uid-1", "", true, false, true),
                PatchBase.of("7"),
                List.of(taints),
                "",
                "",
                AppliedAnnotation.NONE,
                null);
    }

    /** The Node after a patch. */
    private static ObservedNode after(ObservedNode observed, NodePatchPlan.Patch patch, DesiredNode desired) {
        return new ObservedNode(
                observed.name(),
                observed.facts(),
                PatchBase.of("8"),
                patch.taints(),
                patch.label(),
                patch.recommendedAction(),
                patch.applied(),
                patch.conditionDiffers() ? desired.condition() : observed.condition());
    }

    private static NodePatchPlan.Patch patch(NodePatchPlan plan) {
        assertThat(plan).isInstanceOf(NodePatchPlan.Patch.class);
        return (NodePatchPlan.Patch) plan;
    }

    @Test
    void nodeOutOfServiceGetsTaintLabelAndAnnotationBesideForeignTaints() {
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(node(BUSY), desired()));

        assertThat(patch.taints()).containsExactly(BUSY, Taint.unhealthy("Xid79"));
        assertThat(patch.label()).isEqualTo("unhealthy");
        assertThat(patch.recommendedAction()).isEqualTo("reboot");
        assertThat(patch.applied().revision()).isEqualTo(scenario.state().revision());
        assertThat(patch.conditionDiffers()).isTrue();
    }

    @Test
    void nodeInDesiredStateIsNotPatched() {
        ObservedNode patched = after(node(BUSY), patch(NodePatchPlan.of(node(BUSY), desired())), desired());

        assertThat(NodePatchPlan.of(patched, desired())).isEqualTo(new NodePatchPlan.UpToDate());
    }

    @Test
    void appliedFieldsAreRemovedAndForeignTaintsStay() {
        // Given
        ObservedNode patched = after(node(BUSY), patch(NodePatchPlan.of(node(BUSY), desired())), desired());
        scenario.cleared("gpu-0", FaultCode.xid(79));

        // When
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(patched, desired()));

        // Then
        assertThat(patch.taints()).containsExactly(BUSY);
        assertThat(patch.label()).isEmpty();
        assertThat(patch.recommendedAction()).isEmpty();
        assertThat(after(patched, patch, desired()).condition()).isEqualTo(FINE);
    }

    @Test
    void annotationKeepsTheRevisionAfterRecovery() {
        // Given
        DesiredNode faulty = desired();
        ObservedNode patched = after(node(BUSY), patch(NodePatchPlan.of(node(BUSY), faulty)), faulty);
        scenario.cleared("gpu-0", FaultCode.xid(79));

        // When
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(patched, desired()));

        // Then
        assertThat(patch.applied())
                .isEqualTo(new AppliedAnnotation(scenario.state().revision(), "", "", "", "every GPU may be used"));
        ObservedNode recovered = after(patched, patch, desired());
        assertThat(NodePatchPlan.of(recovered, desired())).isEqualTo(new NodePatchPlan.UpToDate());
        assertThat(NodePatchPlan.of(recovered, faulty))
                .isEqualTo(new NodePatchPlan.NewerRevision(scenario.state().revision()));
    }

    @Test
    void revisionOfAFormerLogDoesNotFreezeTheNode() {
        // Given: what a service of the former Kafka applied last
        var former = applied(new AppliedAnnotation(23, "Xid48", "unhealthy", "", "1 GPU out of service"), "Xid48");

        // When
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(former, desired()));

        // Then
        assertThat(patch.taints()).containsExactly(Taint.unhealthy("Xid79"));
    }

    @Test
    void fieldsOfAFormerLogAreRemovedFromAHealthyNode() {
        // Given
        var former = applied(new AppliedAnnotation(23, "Xid48", "unhealthy", "", "1 GPU out of service"), "Xid48");
        var healthy =
                new NodeScenario(TestPolicies.standard()).announced("gpu-0").nodeObserved("uid-1");

        // When
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(former, DesiredNode.of(healthy.verdict())));

        // Then
        assertThat(patch.taints()).isEmpty();
        assertThat(patch.label()).isEmpty();
    }

    private static ObservedNode applied(AppliedAnnotation annotation, String taint) {
        return new ObservedNode(
                "node-1",
                new NodeFacts("uid-1", "", true, false, true),
                PatchBase.of("7"),
                List.of(Taint.unhealthy(taint)),
                annotation.label(),
                annotation.recommendedAction(),
                annotation,
                null);
    }

    @Test
    void taintWithoutAnAnnotationIsRemovedWhenWeWroteItLast() {
        // Given
        scenario.cleared("gpu-0", FaultCode.xid(79));

        // When
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(withoutAnnotation(PatchBase.FIELD_MANAGER), desired()));

        // Then
        assertThat(patch.taints()).isEmpty();
        assertThat(patch.applied().revision()).isEqualTo(scenario.state().revision());
    }

    @Test
    void taintWithoutAnAnnotationIsOursAgainWhileItIsAsDesired() {
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(withoutAnnotation(""), desired()));

        assertThat(patch.foreign()).isEmpty();
        assertThat(patch.applied().taint()).isEqualTo("Xid79");
    }

    @Test
    void taintWithoutAnAnnotationStaysWhenNobodyKnowsWhoseItIs() {
        scenario.cleared("gpu-0", FaultCode.xid(79));

        assertThat(NodePatchPlan.of(withoutAnnotation("sweeper"), desired())).isEqualTo(new NodePatchPlan.UpToDate());
    }

    private ObservedNode withoutAnnotation(String manager) {
        ObservedNode node = node(Taint.unhealthy("Xid79"));
        return new ObservedNode(
                node.name(),
                node.facts(),
                new PatchBase("9", null, true, true, true, manager),
                node.taints(),
                "",
                "",
                node.applied(),
                node.condition());
    }

    @Test
    void foreignTaintInPlaceOfOursStaysAndIsReported() {
        Taint foreign = Taint.unhealthy("foreign");

        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(node(foreign), desired()));

        assertThat(patch.taints()).containsExactly(foreign);
        assertThat(patch.applied().taint()).isEmpty();
        assertThat(patch.foreign()).containsExactly("taint gpufleet.io/unhealthy:NoSchedule");
        ObservedNode patched = after(node(foreign), patch, desired());
        assertThat(NodePatchPlan.of(patched, desired())).isEqualTo(new NodePatchPlan.UpToDate());
        scenario.cleared("gpu-0", FaultCode.xid(79));
        assertThat(patch(NodePatchPlan.of(patched, desired())).taints()).containsExactly(foreign);
    }

    @Test
    void valuesThatAnotherChangedAreForeignStayAndAreReported() {
        // Given
        ObservedNode patched = after(node(BUSY), patch(NodePatchPlan.of(node(BUSY), desired())), desired());
        Taint manual = Taint.unhealthy("Manual");
        ObservedNode changed = with(patched, List.of(BUSY, manual), "ignored", "call-ada");

        // When
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(changed, desired()));

        // Then
        assertThat(patch.taints()).containsExactly(BUSY, manual);
        assertThat(patch.label()).isEqualTo("ignored");
        assertThat(patch.recommendedAction()).isEqualTo("call-ada");
        assertThat(patch.applied().nothingApplied()).isTrue();
        assertThat(patch.foreign())
                .containsExactly(
                        "taint gpufleet.io/unhealthy:NoSchedule",
                        "label gpufleet.io/health",
                        "annotation gpufleet.io/recommended-action");
        ObservedNode left = after(changed, patch, desired());
        assertThat(NodePatchPlan.of(left, desired())).isEqualTo(new NodePatchPlan.UpToDate());
    }

    @Test
    void valuesThatAnotherChangedOutliveTheFault() {
        // Given
        ObservedNode patched = after(node(), patch(NodePatchPlan.of(node(), desired())), desired());
        Taint manual = Taint.unhealthy("Manual");
        ObservedNode changed = with(patched, List.of(manual), "ignored", "call-ada");
        scenario.cleared("gpu-0", FaultCode.xid(79));

        // When
        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(changed, desired()));

        // Then
        assertThat(patch.taints()).containsExactly(manual);
        assertThat(patch.label()).isEqualTo("ignored");
        assertThat(patch.recommendedAction()).isEqualTo("call-ada");
    }

    @Test
    void labelAndActionThatAnotherRemovedAreAppliedAgain() {
        ObservedNode patched = after(node(), patch(NodePatchPlan.of(node(), desired())), desired());

        NodePatchPlan.Patch patch = patch(NodePatchPlan.of(with(patched, patched.taints(), "", ""), desired()));

        assertThat(patch.label()).isEqualTo("unhealthy");
        assertThat(patch.recommendedAction()).isEqualTo("reboot");
        assertThat(patch.foreign()).isEmpty();
    }

    @Test
    void missingTaintOfAnEarlierFaultIsAppliedAgainForANewerOne() {
        // Given
        ObservedNode patched = after(node(), patch(NodePatchPlan.of(node(), desired())), desired());
        ObservedNode without = withoutTaints(patched);

        // When
        scenario.xid("gpu-1", 79);

        // Then
        assertThat(patch(NodePatchPlan.of(without, desired())).taints()).containsExactly(Taint.unhealthy("Xid79"));
    }

    @Test
    void appliedTaintThatIsGoneIsReportedAsMissing() {
        ObservedNode patched = after(node(), patch(NodePatchPlan.of(node(), desired())), desired());
        ObservedNode without = withoutTaints(patched);

        assertThat(NodePatchPlan.of(without, desired()))
                .isEqualTo(new NodePatchPlan.AppliedMissing(
                        "taint", scenario.state().revision()));
    }

    @Test
    void taintIsAppliedAgainWhereTheAnnotationIsGoneToo() {
        assertThat(patch(NodePatchPlan.of(node(), desired())).taints()).containsExactly(Taint.unhealthy("Xid79"));
    }

    @Test
    void newerRevisionOnTheNodeStopsThePatch() {
        ObservedNode patched = after(node(), patch(NodePatchPlan.of(node(), desired())), desired());
        DesiredNode older = new DesiredNode(NodeState.Revisions.NONE, "uid-1", "", false, "", "", FINE);

        assertThat(NodePatchPlan.of(patched, older))
                .isEqualTo(new NodePatchPlan.NewerRevision(scenario.state().revision()));
    }

    @Test
    void nodeWithAnotherUidIsNotPatched() {
        var other = new ObservedNode(
                "node-1",
                new NodeFacts("uid-2", "", true, false, true),
                PatchBase.of("7"),
                List.of(),
                "",
                "",
                AppliedAnnotation.NONE,
                null);

        assertThat(NodePatchPlan.of(other, desired())).isEqualTo(new NodePatchPlan.UidMismatch("uid-2"));
    }

    @Test
    void optedOutNodeIsLeftAlone() {
        var out = new ObservedNode(
                "node-1",
                new NodeFacts("uid-1", "", true, false, false),
                PatchBase.of("7"),
                List.of(),
                "",
                "",
                AppliedAnnotation.NONE,
                null);

        assertThat(NodePatchPlan.of(out, desired())).isEqualTo(new NodePatchPlan.OptedOut());
    }

    @Test
    void healthyNodeWithoutAppliedFieldsIsNotPatched() {
        var healthy =
                new NodeScenario(TestPolicies.standard()).announced("gpu-0").nodeObserved("uid-1");

        assertThat(NodePatchPlan.of(node(BUSY), DesiredNode.of(healthy.verdict())))
                .isEqualTo(new NodePatchPlan.UpToDate());
    }

    @Test
    void anotherReasonReplacesOurTaintOnly() {
        ObservedNode patched = after(node(BUSY), patch(NodePatchPlan.of(node(BUSY), desired())), desired());
        scenario.xid("gpu-1", 54);

        assertThat(patch(NodePatchPlan.of(patched, desired())).taints())
                .containsExactly(BUSY, Taint.unhealthy("Xid54"));
    }

    private static ObservedNode withoutTaints(ObservedNode node) {
        return with(node, List.of(), node.label(), node.recommendedAction());
    }

    /** The Node after another writer changed these fields. */
    private static ObservedNode with(ObservedNode node, List<Taint> taints, String label, String action) {
        return new ObservedNode(
                node.name(), node.facts(), PatchBase.of("9"), taints, label, action, node.applied(), node.condition());
    }
}
