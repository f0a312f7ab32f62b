package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Contract of {@link KubernetesNodeClient} on any API server: what a patch changes, and when it is refused. */
interface NodePatchContract extends TestedNode {
    private static NodePatchPlan.Patch cordoned(ObservedNode observed, boolean unschedulable, long revision) {
        var applied = new AppliedAnnotation(revision, "", "unhealthy", "reboot", "", unschedulable);
        return new NodePatchPlan.Patch(
                observed.taints(), unschedulable, "unhealthy", "reboot", applied, true, false, List.of());
    }

    private Node read() {
        return client().nodes().withName(NODE).require();
    }

    @Test
    default void appliedFieldsAreReadAsTheyWereWritten() {
        KubernetesNodeClient nodes = nodes();
        assertThat(TestedNode.succeeded(nodes.read(NODE)).applied()).isEqualTo(AppliedAnnotation.NONE);

        TestedNode.patch(nodes, TestedNode::patchWithTaint);

        ObservedNode patched = TestedNode.succeeded(nodes.read(NODE));
        assertThat(patched.applied()).isEqualTo(APPLIED);
        assertThat(patched.label()).isEqualTo("unhealthy");
        assertThat(patched.recommendedAction()).isEqualTo("reboot");
        assertThat(patched.unhealthyTaint()).contains(Taint.unhealthy("Xid79"));
    }

    @Test
    default void foreignFieldsStay() {
        KubernetesNodeClient nodes = nodes();
        TestedNode.patch(nodes, TestedNode::patchWithTaint);

        ObservedNode clean = TestedNode.patch(nodes, TestedNode::patchWithoutTaint);

        assertThat(clean.taints())
                .doesNotContain(Taint.unhealthy("Xid79"))
                .extracting(taint -> taint.key() + "=" + taint.value() + ":" + taint.effect())
                .contains("example.com/busy=yes:NoSchedule");
        assertThat(clean.label()).isEmpty();
        assertThat(clean.applied()).isEqualTo(NOTHING_APPLIED);
        assertThat(read().getMetadata().getLabels())
                .containsEntry("example.com/mine", "yes")
                .doesNotContainKey("gpufleet.io/health");
        assertThat(read().getMetadata().getAnnotations())
                .containsEntry("example.com/mine", "yes")
                .containsKey("gpufleet.io/applied")
                .doesNotContainKey("gpufleet.io/recommended-action");
    }

    @Test
    default void foreignChangeSinceItWasReadDoesNotMatter() {
        // Given
        KubernetesNodeClient nodes = nodes();
        ObservedNode observed = TestedNode.succeeded(nodes.read(NODE));
        merge("{\"metadata\":{\"labels\":{\"example.com/mine\":\"changed\"}}}");

        // When
        ObservedNode patched = TestedNode.succeeded(nodes.patchNode(observed, TestedNode.patchWithTaint(observed)));

        // Then
        assertThat(patched.unhealthyTaint()).isPresent();
        assertThat(read().getMetadata().getLabels()).containsEntry("example.com/mine", "changed");
    }

    @Test
    default void ownFieldChangedSinceItWasReadIsNotPatched() {
        for (String change : List.of(
                "{\"metadata\":{\"annotations\":{\"gpufleet.io/applied\":\"{}\"}}}",
                "{\"metadata\":{\"labels\":{\"gpufleet.io/health\":\"quarantined\"}}}",
                "{\"spec\":{\"taints\":[{\"key\":\"gpufleet.io/unhealthy\",\"value\":\"Manual\",\"effect\":\"NoSchedule\"}]}}")) {
            // Given
            removeNode();
            createNode();
            KubernetesNodeClient nodes = nodes();
            ObservedNode observed = TestedNode.succeeded(nodes.read(NODE));
            merge(change);

            // When, Then
            assertThat(nodes.patchNode(observed, TestedNode.patchWithTaint(observed)))
                    .isInstanceOf(NodeResponse.Mismatch.class);
            assertThat(TestedNode.succeeded(nodes.read(NODE)).unhealthyTaint()).isNotEqualTo(Taint.unhealthy("Xid79"));
        }
    }

    @Test
    default void nodeThatWasRecreatedSinceItWasReadIsNotPatched() {
        KubernetesNodeClient nodes = nodes();
        ObservedNode observed = TestedNode.succeeded(nodes.read(NODE));
        removeNode();
        createNode();

        assertThat(nodes.patchNode(observed, TestedNode.patchWithTaint(observed)))
                .isInstanceOf(NodeResponse.Mismatch.class);
    }

    @Test
    default void nodeWithoutLabelsAnnotationsAndTaintsIsPatchedAndCleaned() {
        // Given
        merge("{\"metadata\":{\"labels\":null,\"annotations\":null},\"spec\":{\"taints\":null}}");
        KubernetesNodeClient nodes = nodes();

        // When
        ObservedNode patched = TestedNode.patch(nodes, TestedNode::patchWithTaint);
        ObservedNode clean = TestedNode.patch(nodes, TestedNode::patchWithoutTaint);
        ObservedNode again = TestedNode.patch(nodes, TestedNode::patchWithTaint);

        // Then
        assertThat(patched.unhealthyTaint()).contains(Taint.unhealthy("Xid79"));
        assertThat(patched.label()).isEqualTo("unhealthy");
        assertThat(clean.unhealthyTaint()).isEmpty();
        assertThat(clean.label()).isEmpty();
        assertThat(again.unhealthyTaint()).contains(Taint.unhealthy("Xid79"));
    }

    @Test
    default void eachPatchIsOneRequest() {
        var requests = new CopyOnWriteArrayList<String>();
        Clock clock = Clock.systemUTC();
        try (KubernetesClient counting = TestedNode.recording(service(), requests)) {
            var nodes = new KubernetesNodeClient(
                    counting, new NodeEventRecorder(counting, new CurrentLease(), clock), clock, () -> Duration.ZERO);
            // A real control plane changes a new Node, too.
            await().atMost(TIMEOUT).untilAsserted(() -> {
                ObservedNode observed = TestedNode.succeeded(nodes.read(NODE));
                requests.clear();
                TestedNode.succeeded(nodes.patchNode(observed, TestedNode.patchWithTaint(observed)));
            });
            TestedNode.succeeded(nodes.patchCondition(TestedNode.succeeded(nodes().read(NODE)), PROBLEM));

            assertThat(requests)
                    .containsExactly("PATCH /api/v1/nodes/" + NODE, "PATCH /api/v1/nodes/" + NODE + "/status");
        }
    }

    @Test
    default void cordonByHandStaysWhenOurTaintComesAndGoes() {
        KubernetesNodeClient nodes = nodes();
        merge("{\"spec\":{\"unschedulable\":true}}");

        TestedNode.patch(nodes, TestedNode::patchWithTaint);
        assertThat(read().getSpec().getUnschedulable()).isTrue();

        ObservedNode clean = TestedNode.patch(nodes, TestedNode::patchWithoutTaint);
        assertThat(clean.unhealthyTaint()).isEmpty();
        assertThat(clean.facts().unschedulable()).isTrue();
        assertThat(read().getSpec().getUnschedulable()).isTrue();
    }

    @Test
    default void cordonOfOursIsKnownAsOursAndLifted() {
        // Given
        KubernetesNodeClient nodes = nodes();

        // When
        ObservedNode cordoned = TestedNode.patch(nodes, observed -> cordoned(observed, true, 5));

        // Then
        assertThat(read().getSpec().getUnschedulable()).isTrue();
        assertThat(cordoned.applied().cordon()).isTrue();
        assertThat(cordoned.facts().unschedulable()).isTrue();
        assertThat(cordoned.base().cordonedByUs()).isTrue();
        assertThat(cordoned.unhealthyTaint()).isEmpty();

        // When
        ObservedNode clean = TestedNode.patch(nodes, observed -> cordoned(observed, false, 6));

        // Then
        assertThat(clean.facts().unschedulable()).isFalse();
        assertThat(clean.base().cordonManager()).isEmpty();
        assertThat(clean.applied().cordon()).isFalse();
    }

    @Test
    default void cordonByHandIsKnownAsAnothers() {
        KubernetesNodeClient nodes = nodes();

        merge("{\"spec\":{\"unschedulable\":true}}");

        assertThat(TestedNode.succeeded(nodes.read(NODE)).base().cordonedByAnother())
                .isTrue();
    }

    @Test
    default void nodeThatWasCordonedSinceItWasReadIsNotPatched() {
        KubernetesNodeClient nodes = nodes();
        ObservedNode observed = TestedNode.succeeded(nodes.read(NODE));
        merge("{\"spec\":{\"unschedulable\":true}}");

        assertThat(nodes.patchNode(observed, cordoned(observed, true, 5))).isInstanceOf(NodeResponse.Mismatch.class);
        assertThat(TestedNode.succeeded(nodes.read(NODE)).applied()).isEqualTo(AppliedAnnotation.NONE);
    }

    @Test
    default void nodeThatWasUncordonedSinceItWasReadIsNotPatched() {
        KubernetesNodeClient nodes = nodes();
        ObservedNode cordoned = TestedNode.patch(nodes, observed -> cordoned(observed, true, 5));
        merge("{\"spec\":{\"unschedulable\":null}}");

        assertThat(nodes.patchNode(cordoned, cordoned(cordoned, false, 6))).isInstanceOf(NodeResponse.Mismatch.class);
    }

    @Test
    default void conditionIsAppliedBesideForeignConditions() {
        // Given
        // A patch without resourceVersion: a real control plane writes to a new node at once.
        client().nodes().withName(NODE).subresource("status").patch(PatchContext.of(PatchType.STRATEGIC_MERGE), """
            {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
             "message": "ready", "lastHeartbeatTime": "2026-01-01T00:00:00Z",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
            """);
        KubernetesNodeClient nodes = nodes();
        ObservedNode observed = TestedNode.succeeded(nodes.read(NODE));

        // When
        ObservedNode patched = TestedNode.succeeded(nodes.patchCondition(observed, PROBLEM));
        ObservedNode other =
                TestedNode.succeeded(nodes.patchCondition(patched, new Condition("False", "GpusHealthy", "fine")));

        // Then
        assertThat(patched.condition()).isEqualTo(PROBLEM);
        assertThat(other.condition()).isEqualTo(new Condition("False", "GpusHealthy", "fine"));
        assertThat(read().getStatus().getConditions())
                .extracting(NodeCondition::getType)
                .contains("Ready", "GpuUnhealthy")
                .doesNotHaveDuplicates();
    }
}
