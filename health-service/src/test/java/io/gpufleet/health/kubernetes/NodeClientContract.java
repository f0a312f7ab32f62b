package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.app.NodeListener;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Contract of {@link KubernetesNodeClient} on any API server: a Node that is gone, the watch, Events. */
interface NodeClientContract extends TestedNode {
    @Test
    default void deletedNodeIsNotFoundAndNeverCreated() {
        KubernetesNodeClient nodes = nodes();
        ObservedNode observed = TestedNode.succeeded(nodes.read(NODE));
        removeNode();

        assertThat(nodes.read(NODE)).isEqualTo(new NodeResponse.NotFound());
        assertThat(nodes.patchNode(observed, TestedNode.patchWithTaint(observed)))
                .isEqualTo(new NodeResponse.NotFound());
        assertThat(nodes.patchCondition(observed, PROBLEM)).isNotInstanceOf(NodeResponse.Succeeded.class);
        assertThat(client().nodes().withName(NODE).get()).isNull();
    }

    @Test
    default void warmingUpPatchesANodeAsForAFaultAndChangesNothing() {
        var requests = new CopyOnWriteArrayList<String>();
        Clock clock = Clock.systemUTC();
        try (KubernetesClient recording = TestedNode.recording(service(), requests);
                var nodes = new KubernetesNodeClient(
                        recording,
                        new NodeEventRecorder(recording, new CurrentLease(), clock),
                        clock,
                        () -> Duration.ZERO)) {
            // Given
            nodes.watch(new NodeListener() {
                @Override
                public void nodeChanged(String node) {}

                @Override
                public void nodeDeleted(String node, String uid) {}
            });
            await().atMost(TIMEOUT).until(nodes::hasSynced);

            // When
            nodes.warmUp();

            // Then the requests are those of a fault
            List<String> patches = requests.stream()
                    .filter(request -> request.startsWith("PATCH "))
                    .distinct()
                    .toList();
            assertThat(patches).hasSize(2);
            assertThat(patches.getFirst()).matches("PATCH /api/v1/nodes/[^/]+");
            assertThat(patches.getLast()).matches("PATCH /api/v1/nodes/[^/]+/status");

            // And no Node was changed, and that of a warm-up without Nodes was not created
            assertThat(client().nodes().list().getItems())
                    .noneMatch(node -> node.getMetadata().getName().startsWith("gpufleet-warm-up"))
                    .allSatisfy(node -> assertThat(node.toString()).doesNotContain("WarmUp"));
        }
    }

    @Test
    default void repeatedEventIsCounted() {
        // Given
        ObservedNode observed = TestedNode.succeeded(nodes().read(NODE));
        Clock clock = Clock.systemUTC();

        // When
        try (var events = new NodeEventRecorder(service(), TestedNode.heldLease(), clock)) {
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

    @Test
    default void knownEventIsOneRequest() {
        // Given
        ObservedNode observed = TestedNode.succeeded(nodes().read(NODE));
        var requests = new CopyOnWriteArrayList<String>();
        String name = NodeEventRecorder.name(observed, "Xid94");

        // When
        try (KubernetesClient client = TestedNode.recording(service(), requests);
                var events = new NodeEventRecorder(client, TestedNode.heldLease(), Clock.systemUTC())) {
            events.recordEvent(observed, true, "Xid94", "1 GPU out of service");
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(count(name)).isEqualTo(1));
            events.recordEvent(observed, true, "Xid94", "1 GPU out of service");
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(count(name)).isEqualTo(2));
        }

        // Then
        String path = "/api/v1/namespaces/default/events";
        assertThat(requests).containsExactly("POST " + path, "PATCH " + path + "/" + name);
    }

    @Test
    default void eventThatTheApiServerRemovedIsCreatedAgain() {
        // Given
        ObservedNode observed = TestedNode.succeeded(nodes().read(NODE));
        String name = NodeEventRecorder.name(observed, "Xid95");
        try (var events = new NodeEventRecorder(service(), TestedNode.heldLease(), Clock.systemUTC())) {
            events.recordEvent(observed, true, "Xid95", "1 GPU out of service");
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(count(name)).isEqualTo(1));
            client().v1().events().inNamespace("default").withName(name).delete();

            // When
            events.recordEvent(observed, true, "Xid95", "1 GPU out of service");

            // Then
            await().atMost(TIMEOUT).untilAsserted(() -> assertThat(count(name)).isEqualTo(1));
        }
    }

    /** Of an Event; 0 where there is none. */
    private int count(String name) {
        Event found =
                client().v1().events().inNamespace("default").withName(name).get();
        return found == null ? 0 : found.getCount();
    }

    /** Ours alone: a real control plane records that the Node was registered. */
    private List<Event> events() {
        return client().v1().events().inNamespace("default").list().getItems().stream()
                .filter(event -> NODE.equals(event.getInvolvedObject().getName()))
                .filter(event -> "gpufleet-health".equals(event.getReportingComponent()))
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
                TestedNode.succeeded(nodes.patchNode(observed, TestedNode.patchWithTaint(observed)));
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
