package io.gpufleet.health.model.nodepatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.nodepatch.ObservedNode.NodeFacts;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.policy.TestPolicies;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A rule may cordon the node, in place of our taint or beside it; what a person decides about that stays. */
class CordonTest {
    private static final String KUBECTL = "kubectl-cordon";

    private NodeScenario scenario = scenario(NodeAction.CORDON);
    private ObservedNode node = node(false, "", AppliedAnnotation.NONE);

    private static NodeScenario scenario(NodeAction action) {
        return new NodeScenario(TestPolicies.with(action))
                .announced("gpu-0", "gpu-1")
                .nodeObserved("uid-1")
                .xid("gpu-0", 79);
    }

    private static ObservedNode node(
            boolean unschedulable, String manager, AppliedAnnotation applied, Taint... taints) {
        return new ObservedNode(
                "node-1",
                new NodeFacts("uid-1", "", true, unschedulable, true),
                new PatchBase("7", null, true, true, true, "", manager),
                List.of(taints),
                applied.label(),
                applied.recommendedAction(),
                applied,
                null);
    }

    private NodePatchPlan plan() {
        return NodePatchPlan.of(node, DesiredNode.of(scenario.verdict()));
    }

    private NodePatchPlan.Patch patch() {
        assertThat(plan()).isInstanceOf(NodePatchPlan.Patch.class);
        return (NodePatchPlan.Patch) plan();
    }

    /** The Node after the patch that is due. */
    private void patched() {
        NodePatchPlan.Patch patch = patch();
        String manager = patch.unschedulable() == node.facts().unschedulable()
                ? node.base().cordonManager()
                : patch.unschedulable() ? PatchBase.FIELD_MANAGER : "";
        node = node(
                patch.unschedulable(), manager, patch.applied(), patch.taints().toArray(Taint[]::new));
    }

    private void becomes(boolean unschedulable, String manager) {
        node = node(unschedulable, manager, node.applied(), node.taints().toArray(Taint[]::new));
    }

    @Test
    void ruleThatCordonsMakesTheNodeUnschedulableWithoutATaint() {
        assertThat(patch().unschedulable()).isTrue();
        assertThat(patch().taints()).isEmpty();
        assertThat(patch().label()).isEqualTo("unhealthy");
        assertThat(patch().applied().cordon()).isTrue();
        assertThat(patch().applied().taint()).isEmpty();
        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.lastDecisions()).extracting(Decision::action).contains(Decision.CORDON);
    }

    @Test
    void ruleThatDoesBothDoesBothInOnePatch() {
        scenario = scenario(NodeAction.TAINT_AND_CORDON);

        assertThat(patch().unschedulable()).isTrue();
        assertThat(patch().taints()).containsExactly(Taint.unhealthy("Xid79"));
        assertThat(patch().applied().cordon()).isTrue();
        assertThat(patch().applied().taint()).isEqualTo("Xid79");
    }

    @Test
    void ruleThatTaintsLeavesTheNodeSchedulable() {
        scenario = scenario(NodeAction.TAINT);

        assertThat(patch().unschedulable()).isFalse();
        assertThat(patch().applied().cordon()).isFalse();
    }

    @Test
    void cordonIsLiftedWithTheEndOfTheFault() {
        patched();

        scenario.cleared("gpu-0", FaultCode.xid(79));

        assertThat(patch().unschedulable()).isFalse();
        assertThat(patch().applied().cordon()).isFalse();
        assertThat(scenario.lastDecisions()).extracting(Decision::action).contains(Decision.UNCORDON);
    }

    @Test
    void cordonOfAPersonIsNeitherOursNorLifted() {
        becomes(true, KUBECTL);

        assertThat(patch().foreign()).containsExactly("spec.unschedulable");
        assertThat(patch().applied().cordon()).isFalse();
        patched();
        scenario.cleared("gpu-0", FaultCode.xid(79));

        assertThat(patch().unschedulable()).isTrue();
    }

    @Test
    void cordonThatAPersonMadeAnewAfterOursStays() {
        patched();
        becomes(true, KUBECTL);

        scenario.cleared("gpu-0", FaultCode.xid(79));

        assertThat(patch().unschedulable()).isTrue();
        assertThat(patch().applied().cordon()).isFalse();
    }

    @Test
    void uncordonedNodeIsNotCordonedAgain() {
        patched();

        becomes(false, "");

        assertThat(plan())
                .isEqualTo(new NodePatchPlan.AppliedMissing(
                        "cordon", scenario.state().revision()));
    }

    @Test
    void whoUncordonsOverridesTheTaintToo() {
        scenario = scenario(NodeAction.TAINT_AND_CORDON);
        patched();
        becomes(false, "");

        scenario.handle(new HealthSignal.OverrideObserved(
                scenario.nextMetadata(), "cordon", "unknown", scenario.state().revision()));

        DesiredNode desired = DesiredNode.of(scenario.verdict());
        assertThat(desired.cordon()).isFalse();
        assertThat(desired.taint()).isEmpty();
        assertThat(desired.condition().message()).contains("manual override: taint removed or uncordoned");
        assertThat(patch().taints()).isEmpty();
        assertThat(patch().unschedulable()).isFalse();
    }

    @Test
    void faultThatIsNewerThanTheUncordonCordonsAgain() {
        patched();
        becomes(false, "");

        scenario.xid("gpu-1", 54);

        assertThat(patch().unschedulable()).isTrue();
    }

    @Test
    void cordonWhoseAnnotationIsLostIsOursByItsManager() {
        node = node(true, PatchBase.FIELD_MANAGER, AppliedAnnotation.NONE);

        scenario.cleared("gpu-0", FaultCode.xid(79));

        assertThat(patch().unschedulable()).isFalse();
    }

    @Test
    void whatIsHeldBackSaysThatItWouldCordon() {
        scenario = new NodeScenario(TestPolicies.with(NodeAction.CORDON))
                .with(PermittedActions.heldBackBy("no room", PermittedActions.ALL))
                .announced("gpu-0", "gpu-1")
                .nodeObserved("uid-1")
                .xid("gpu-0", 79);

        assertThat(DesiredNode.of(scenario.verdict()).cordon()).isFalse();
        assertThat(DesiredNode.of(scenario.verdict()).condition().message()).contains("would cordon: no room");
    }

    @Test
    void quarantineByHandTaints() {
        scenario = new NodeScenario(TestPolicies.with(NodeAction.CORDON))
                .announced("gpu-0", "gpu-1")
                .nodeObserved("uid-1")
                .command(Command.QUARANTINE, "");

        assertThat(patch().unschedulable()).isFalse();
        assertThat(patch().taints()).containsExactly(Taint.unhealthy("Quarantined"));
    }

    @Test
    void twoRulesThatDifferDoBoth() {
        scenario = new NodeScenario(TestPolicies.with(NodeAction.CORDON))
                .announced("gpu-0", "gpu-1")
                .nodeObserved("uid-1")
                .command(Command.QUARANTINE, "")
                .xid("gpu-0", 79);

        assertThat(patch().unschedulable()).isTrue();
        assertThat(patch().taints()).containsExactly(Taint.unhealthy("Quarantined"));
    }
}
