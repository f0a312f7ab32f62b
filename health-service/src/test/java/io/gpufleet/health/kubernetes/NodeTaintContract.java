package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Contract of {@link KubernetesNodeClient} on any API server: our taint beside others who write the same list. */
interface NodeTaintContract extends TestedNode {
    @Test
    default void rivalThatWritesAllTheTimeCausesNoConflict() throws InterruptedException {
        // Given
        KubernetesNodeClient nodes = nodes();
        var done = new AtomicBoolean();
        Thread rival = Thread.ofVirtual().start(() -> {
            for (int i = 0; !done.get(); i++) {
                merge("{\"metadata\":{\"annotations\":{\"example.com/mine\":\"" + i + "\"}}}");
            }
        });

        // When
        int refused = 0;
        for (int i = 0; i < 50; i++) {
            ObservedNode observed = TestedNode.succeeded(nodes.read(NODE));
            var applied = new AppliedAnnotation(i + 1, "Xid79", "unhealthy", "reboot", "");
            List<Taint> taints = observed.unhealthyTaint().isPresent()
                    ? observed.taints()
                    : TestedNode.patchWithTaint(observed).taints();
            var plan = new NodePatchPlan.Patch(taints, false, "unhealthy", "reboot", applied, true, false, List.of());
            refused += nodes.patchNode(observed, plan) instanceof NodeResponse.Succeeded ? 0 : 1;
        }
        done.set(true);
        rival.join();

        // Then
        assertThat(refused).isZero();
    }

    @Test
    default void hundredForeignTaintsStay() {
        // Given
        KubernetesNodeClient nodes = nodes();
        String taints = IntStream.range(0, 100)
                .mapToObj(i -> "{\"key\":\"example.com/t%d\",\"effect\":\"NoSchedule\"}".formatted(i))
                .collect(Collectors.joining(",", "[", "]"));
        merge("{\"spec\":{\"taints\":" + taints + "}}");

        // When
        ObservedNode tainted = TestedNode.patch(nodes, TestedNode::patchWithTaint);
        ObservedNode clean = TestedNode.patch(nodes, TestedNode::patchWithoutTaint);

        // Then
        assertThat(tainted.unhealthyTaint()).contains(Taint.unhealthy("Xid79"));
        assertThat(clean.unhealthyTaint()).isEmpty();
        for (ObservedNode node : List.of(tainted, clean)) {
            assertThat(node.taints())
                    .extracting(Taint::key)
                    .filteredOn(key -> key.startsWith("example.com/t"))
                    .hasSize(100);
        }
    }

    @Test
    default void taintIsRemovedThoughForeignTaintsCameAndWentSinceItWasRead() {
        // Given
        KubernetesNodeClient nodes = nodes();
        ObservedNode tainted = TestedNode.patch(nodes, TestedNode::patchWithTaint);

        // When others remove one and add one, as the controllers of Kubernetes do
        changeTaints(taints -> taints.removeIf(taint -> taint.getKey().equals("example.com/busy")));
        changeTaints(taints -> taints.add(foreign("example.com/late")));

        // Then
        ObservedNode clean = TestedNode.succeeded(nodes.patchNode(tainted, TestedNode.patchWithoutTaint(tainted)));
        assertThat(clean.taints())
                .extracting(Taint::key)
                .contains("example.com/late")
                .doesNotContain(Taint.KEY, "example.com/busy");
    }

    @Test
    default void onlyTaintIsRemovedThoughAForeignOneCameSinceItWasRead() {
        // Given
        merge("{\"spec\":{\"taints\":null}}");
        KubernetesNodeClient nodes = nodes();
        ObservedNode tainted = TestedNode.patch(nodes, TestedNode::patchWithTaint);

        // When
        changeTaints(taints -> taints.add(foreign("example.com/late")));

        // Then
        ObservedNode clean = TestedNode.succeeded(nodes.patchNode(tainted, TestedNode.patchWithoutTaint(tainted)));
        assertThat(clean.taints())
                .extracting(Taint::key)
                .contains("example.com/late")
                .doesNotContain(Taint.KEY);
    }

    @Test
    default void taintThatAnotherChangedOrMovedSinceItWasReadIsNotRemoved() {
        for (Consumer<List<io.fabric8.kubernetes.api.model.Taint>> change :
                List.<Consumer<List<io.fabric8.kubernetes.api.model.Taint>>>of(
                        taints -> ours(taints).setValue("Manual"), Collections::reverse)) {
            // Given
            removeNode();
            createNode();
            KubernetesNodeClient nodes = nodes();
            ObservedNode tainted = TestedNode.patch(nodes, TestedNode::patchWithTaint);

            // When
            changeTaints(change);

            // Then
            assertThat(nodes.patchNode(tainted, TestedNode.patchWithoutTaint(tainted)))
                    .isInstanceOf(NodeResponse.Mismatch.class);
            assertThat(TestedNode.succeeded(nodes.read(NODE)).taints())
                    .extracting(Taint::key)
                    .contains(Taint.KEY, "example.com/busy");
        }
    }

    @Test
    default void taintWhoseValueAnotherChangedIsForeignOnceItIsReadAgain() {
        // Given
        KubernetesNodeClient nodes = nodes();
        ObservedNode tainted = TestedNode.patch(nodes, TestedNode::patchWithTaint);
        merge("{\"metadata\":{\"labels\":{\"gpufleet.io/health\":\"ignored\"}}}");
        changeTaints(taints -> ours(taints).setValue("Manual"));
        var recovered =
                new DesiredNode(new NodeState.Revisions(4, 0), tainted.uid(), "", false, "", "", TestedNode.NO_PROBLEM);

        // When
        ObservedNode left = TestedNode.patch(nodes, read -> (NodePatchPlan.Patch) NodePatchPlan.of(read, recovered));

        // Then
        assertThat(left.unhealthyTaint()).map(Taint::value).contains("Manual");
        assertThat(left.label()).isEqualTo("ignored");
        assertThat(left.recommendedAction()).isEmpty();
        assertThat(left.applied()).isEqualTo(NOTHING_APPLIED);
    }

    @Test
    default void taintBehindOneThatARivalPutFirstIsRemovedOnceItIsReadAgain() {
        // Given
        KubernetesNodeClient nodes = nodes();
        ObservedNode tainted = TestedNode.patch(nodes, TestedNode::patchWithTaint);

        // When
        changeTaints(taints -> taints.addFirst(foreign("example.com/first")));

        // Then the removal is refused as a whole, and repeated by what is read
        assertThat(nodes.patchNode(tainted, TestedNode.patchWithoutTaint(tainted)))
                .isInstanceOf(NodeResponse.Mismatch.class);
        ObservedNode read = TestedNode.succeeded(nodes.read(NODE));
        assertThat(read.applied()).isEqualTo(APPLIED);
        ObservedNode clean = TestedNode.succeeded(nodes.patchNode(read, TestedNode.patchWithoutTaint(read)));
        assertThat(clean.taints())
                .extracting(Taint::key)
                .contains("example.com/first", "example.com/busy")
                .doesNotContain(Taint.KEY);
    }

    @Test
    default void taintIsAddedAndItsEndRefusedWhereARivalReplacesTheWholeList() {
        // Given
        KubernetesNodeClient nodes = nodes();
        ObservedNode before = TestedNode.succeeded(nodes.read(NODE));
        replaceTaints("example.com/first", "example.com/second");

        // When
        ObservedNode tainted = TestedNode.succeeded(nodes.patchNode(before, TestedNode.patchWithTaint(before)));

        // Then
        assertThat(tainted.taints())
                .extracting(Taint::key)
                .containsSubsequence(Taint.KEY, "example.com/first", "example.com/second");

        // When the rival knows nothing of ours
        replaceTaints("example.com/first", "example.com/second");

        // Then no taint of the rival is removed in the place of ours
        assertThat(nodes.patchNode(tainted, TestedNode.patchWithoutTaint(tainted)))
                .isInstanceOf(NodeResponse.Mismatch.class);
        ObservedNode wiped = TestedNode.succeeded(nodes.read(NODE));
        assertThat(wiped.applied()).isEqualTo(APPLIED);
        assertThat(wiped.taints()).extracting(Taint::key).contains("example.com/first", "example.com/second");
    }

    private static io.fabric8.kubernetes.api.model.Taint foreign(String key) {
        return new io.fabric8.kubernetes.api.model.Taint("NoSchedule", key, null, "yes");
    }

    private static io.fabric8.kubernetes.api.model.Taint ours(List<io.fabric8.kubernetes.api.model.Taint> taints) {
        return taints.stream()
                .filter(taint -> taint.getKey().equals(Taint.KEY))
                .findFirst()
                .orElseThrow();
    }

    /** Repeats what a control plane was faster with: it changes a new Node, too. */
    private void changeTaints(Consumer<List<io.fabric8.kubernetes.api.model.Taint>> change) {
        await().atMost(TIMEOUT)
                .ignoreExceptionsMatching(NodeTaintContract::isConflict)
                .until(() -> client().nodes().withName(NODE).edit(node -> {
                            change.accept(node.getSpec().getTaints());
                            return node;
                        })
                        != null);
    }

    /** Also 422, of a patch at the place of a taint that is at another one since. */
    private static boolean isConflict(Throwable failed) {
        return failed instanceof KubernetesClientException refused
                && (refused.getCode() == 409 || refused.getCode() == 422);
    }

    private void replaceTaints(String... keys) {
        merge(Stream.of(keys)
                .map("{\"key\":\"%s\",\"effect\":\"NoSchedule\"}"::formatted)
                .collect(Collectors.joining(",", "{\"spec\":{\"taints\":[", "]}}")));
    }
}
