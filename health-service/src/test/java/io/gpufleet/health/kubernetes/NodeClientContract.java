package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.app.NodeListener;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Contract of {@link KubernetesNodeClient} on any API server; creates and removes its own Node. */
interface NodeClientContract {
    /** Name of the Node of these tests. */
    String NODE = "gpufleet-it-health";

    /** Time limit for an API server. */
    Duration TIMEOUT = Duration.ofSeconds(30);

    /** Fields applied to it. */
    AppliedAnnotation APPLIED =
            new AppliedAnnotation(3, "Xid79", "unhealthy", "reboot", "1 GPU out of service: \"GPU-1\" Xid79");

    /** After recovery. */
    AppliedAnnotation NOTHING_APPLIED = new AppliedAnnotation(4, "", "", "", "every GPU may be used");

    /** A problem. */
    Condition PROBLEM = new Condition("True", "Xid79", "1 GPU out of service");

    /** Client of the API server; stays open. */
    KubernetesClient client();

    @BeforeEach
    default void createNode() {
        removeNode();
        client().nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(NODE)
                        .addToLabels("example.com/mine", "yes")
                        .addToAnnotations("example.com/mine", "yes")
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint()
                        .withKey("example.com/busy")
                        .withValue("yes")
                        .withEffect("NoSchedule")
                        .endTaint()
                        .endSpec()
                        .build())
                .create();
    }

    @AfterEach
    default void removeNode() {
        client().nodes().withName(NODE).withGracePeriod(0).delete();
        await().atMost(TIMEOUT).until(() -> client().nodes().withName(NODE).get() == null);
        client().v1()
                .events()
                .inNamespace("default")
                .withField("involvedObject.name", NODE)
                .list()
                .getItems()
                .forEach(event -> client().resource(event).delete());
    }

    /** The adapter with a fixed clock. */
    private KubernetesNodeClient nodes(Instant now) {
        Clock clock = Clock.fixed(now, ZoneOffset.UTC);
        return new KubernetesNodeClient(client(), new NodeEventRecorder(client(), heldLease(), clock), clock);
    }

    private static CurrentLease heldLease() {
        var lease = new CurrentLease();
        lease.begin(() -> true);
        return lease;
    }

    private KubernetesNodeClient nodes() {
        return nodes(Instant.parse("2026-03-01T10:00:00Z"));
    }

    private static ObservedNode succeeded(NodeResponse response) {
        assertThat(response).isInstanceOf(NodeResponse.Succeeded.class);
        return ((NodeResponse.Succeeded) response).node();
    }

    private static NodePatchPlan.Patch patchWithTaint(ObservedNode observed) {
        List<Taint> taints = java.util.stream.Stream.concat(
                        observed.taints().stream(), java.util.stream.Stream.of(Taint.unhealthy("Xid79")))
                .toList();
        return new NodePatchPlan.Patch(taints, "unhealthy", "reboot", APPLIED, true, true, List.of());
    }

    /** Reads and patches; retries when a control plane changed the new Node in between. */
    private static ObservedNode patch(KubernetesNodeClient nodes, Function<ObservedNode, NodePatchPlan.Patch> plan) {
        for (int attempt = 0; attempt < 20; attempt++) {
            ObservedNode observed = succeeded(nodes.read(NODE));
            NodeResponse response = nodes.patchNode(observed, plan.apply(observed));
            if (!(response instanceof NodeResponse.Conflict || response instanceof NodeResponse.Mismatch)) {
                return succeeded(response);
            }
        }
        throw new AssertionError("the node changed at each of 20 attempts");
    }

    private static List<Taint> foreignTaints(ObservedNode observed) {
        return observed.taints().stream()
                .filter(taint -> !taint.equals(Taint.unhealthy("Xid79")))
                .toList();
    }

    private Node read() {
        return client().nodes().withName(NODE).require();
    }

    @Test
    default void appliedFieldsAreReadAsTheyWereWritten() {
        KubernetesNodeClient nodes = nodes();
        assertThat(succeeded(nodes.read(NODE)).applied()).isEqualTo(AppliedAnnotation.NONE);

        patch(nodes, NodeClientContract::patchWithTaint);

        ObservedNode patched = succeeded(nodes.read(NODE));
        assertThat(patched.applied()).isEqualTo(APPLIED);
        assertThat(patched.label()).isEqualTo("unhealthy");
        assertThat(patched.recommendedAction()).isEqualTo("reboot");
        assertThat(patched.unhealthyTaint()).contains(Taint.unhealthy("Xid79"));
    }

    @Test
    default void foreignFieldsStay() {
        KubernetesNodeClient nodes = nodes();
        patch(nodes, NodeClientContract::patchWithTaint);

        ObservedNode clean = patch(
                nodes,
                observed -> new NodePatchPlan.Patch(
                        foreignTaints(observed), "", "", NOTHING_APPLIED, true, false, List.of()));

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
        ObservedNode observed = succeeded(nodes.read(NODE));
        merge("{\"metadata\":{\"labels\":{\"example.com/mine\":\"changed\"}}}");

        // When
        ObservedNode patched = succeeded(nodes.patchNode(observed, patchWithTaint(observed)));

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
            ObservedNode observed = succeeded(nodes.read(NODE));
            merge(change);

            // When, Then
            assertThat(nodes.patchNode(observed, patchWithTaint(observed))).isInstanceOf(NodeResponse.Mismatch.class);
            assertThat(succeeded(nodes.read(NODE)).unhealthyTaint()).isNotEqualTo(Taint.unhealthy("Xid79"));
        }
    }

    @Test
    default void nodeThatWasRecreatedSinceItWasReadIsNotPatched() {
        KubernetesNodeClient nodes = nodes();
        ObservedNode observed = succeeded(nodes.read(NODE));
        removeNode();
        createNode();

        assertThat(nodes.patchNode(observed, patchWithTaint(observed))).isInstanceOf(NodeResponse.Mismatch.class);
    }

    @Test
    default void nodeWithoutLabelsAnnotationsAndTaintsIsPatchedAndCleaned() {
        // Given
        merge("{\"metadata\":{\"labels\":null,\"annotations\":null},\"spec\":{\"taints\":null}}");
        KubernetesNodeClient nodes = nodes();

        // When
        ObservedNode patched = patch(nodes, NodeClientContract::patchWithTaint);
        ObservedNode clean = patch(
                nodes,
                observed -> new NodePatchPlan.Patch(
                        foreignTaints(observed), "", "", NOTHING_APPLIED, true, false, List.of()));

        // Then
        assertThat(patched.unhealthyTaint()).contains(Taint.unhealthy("Xid79"));
        assertThat(patched.label()).isEqualTo("unhealthy");
        assertThat(clean.unhealthyTaint()).isEmpty();
        assertThat(clean.label()).isEmpty();
    }

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
            ObservedNode observed = succeeded(nodes.read(NODE));
            var applied = new AppliedAnnotation(i + 1, "Xid79", "unhealthy", "reboot", "");
            List<Taint> taints = observed.unhealthyTaint().isPresent()
                    ? observed.taints()
                    : patchWithTaint(observed).taints();
            var plan = new NodePatchPlan.Patch(taints, "unhealthy", "reboot", applied, true, false, List.of());
            refused += nodes.patchNode(observed, plan) instanceof NodeResponse.Succeeded ? 0 : 1;
        }
        done.set(true);
        rival.join();

        // Then
        assertThat(refused).isZero();
    }

    private void merge(String patch) {
        client().nodes().withName(NODE).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
    }

    @Test
    default void deletedNodeIsNotFoundAndNeverCreated() {
        KubernetesNodeClient nodes = nodes();
        ObservedNode observed = succeeded(nodes.read(NODE));
        removeNode();

        assertThat(nodes.read(NODE)).isEqualTo(new NodeResponse.NotFound());
        assertThat(nodes.patchNode(observed, patchWithTaint(observed))).isEqualTo(new NodeResponse.NotFound());
        assertThat(nodes.patchCondition(observed, PROBLEM)).isNotInstanceOf(NodeResponse.Succeeded.class);
        assertThat(client().nodes().withName(NODE).get()).isNull();
    }

    @Test
    default void warmingUpChangesNothing() {
        try (KubernetesNodeClient nodes = nodes()) {
            // Given
            nodes.watch(new NodeListener() {
                @Override
                public void nodeChanged(String node) {}

                @Override
                public void nodeDeleted(String node, String uid) {}
            });
            await().atMost(TIMEOUT).until(nodes::hasSynced);
            int before = client().nodes().list().getItems().size();

            // When
            nodes.warmUp();

            // Then
            assertThat(client().nodes().list().getItems())
                    .hasSize(before)
                    .allSatisfy(node -> assertThat(node.toString()).doesNotContain("WarmUp"));
        }
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
        ObservedNode observed = succeeded(nodes.read(NODE));

        // When
        ObservedNode patched = succeeded(nodes.patchCondition(observed, PROBLEM));
        ObservedNode other = succeeded(nodes.patchCondition(patched, new Condition("False", "GpusHealthy", "fine")));

        // Then
        assertThat(patched.condition()).isEqualTo(PROBLEM);
        assertThat(other.condition()).isEqualTo(new Condition("False", "GpusHealthy", "fine"));
        assertThat(read().getStatus().getConditions())
                .extracting(NodeCondition::getType)
                .contains("Ready", "GpuUnhealthy")
                .doesNotHaveDuplicates();
    }

    @Test
    default void repeatedEventIsCounted() {
        // Given
        ObservedNode observed = succeeded(nodes().read(NODE));
        Clock clock = Clock.systemUTC();

        // When
        try (var events = new NodeEventRecorder(client(), heldLease(), clock)) {
            events.recordEvent(observed, true, "Xid79", "1 GPU out of service");
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(events()).hasSize(1));
            events.recordEvent(observed, true, "Xid79", "1 GPU out of service");
            await().atMost(TIMEOUT)
                    .untilAsserted(() ->
                            assertThat(events()).extracting(Event::getCount).containsExactly(2));
        }

        // Then
        assertThat(events()).singleElement().satisfies(event -> {
            assertThat(event.getType()).isEqualTo("Warning");
            assertThat(event.getInvolvedObject().getUid()).isEqualTo(observed.uid());
        });
    }

    private List<Event> events() {
        return client().v1().events().inNamespace("default").list().getItems().stream()
                .filter(event -> NODE.equals(event.getInvolvedObject().getName()))
                .toList();
    }

    @Test
    default void watchReportsChangesAndDeletion() {
        var changes = new CopyOnWriteArrayList<String>();
        try (KubernetesNodeClient nodes = nodes()) {
            nodes.watch(new NodeListener() {
                @Override
                public void nodeChanged(String node) {
                    if (node.equals(NODE)) {
                        changes.add("changed");
                    }
                }

                @Override
                public void nodeDeleted(String node, String uid) {
                    if (node.equals(NODE)) {
                        changes.add("gone");
                    }
                }
            });
            // The list is complete before the watch is established.
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(nodes.readinessFailures()).isEmpty());
            // A real control plane changes a new Node, too.
            await().atMost(TIMEOUT).untilAsserted(() -> {
                ObservedNode observed = nodes.cached(NODE).orElseThrow();
                succeeded(nodes.patchNode(observed, patchWithTaint(observed)));
            });
            await().atMost(TIMEOUT)
                    .until(() -> Objects.equals(
                            nodes.cached(NODE).map(ObservedNode::applied).orElse(AppliedAnnotation.NONE), APPLIED));
            removeNode();
            await().atMost(TIMEOUT).until(() -> changes.contains("gone"));

            assertThat(nodes.cached(NODE)).isEmpty();
            assertThat(changes).startsWith("changed").endsWith("gone");
        }
    }
}
