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
import io.gpufleet.health.app.NodeMarks.Answer;
import io.gpufleet.health.app.NodeWatcher;
import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.FoundNode.Condition;
import io.gpufleet.health.model.FoundNode.Taint;
import io.gpufleet.health.model.MarksNote;
import io.gpufleet.health.model.MarksPlan;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the adapter promises of any API server; creates Nodes of its own and removes them. */
interface NodeMarksContract {
    /** The Node of these tests. */
    String NODE = "gpufleet-it-health";

    /** Patience with an API server. */
    Duration LONG = Duration.ofSeconds(30);

    /** Our marks on it. */
    MarksNote NOTE = new MarksNote(3, "Xid79", "quarantined", "reboot", "1 GPU out of service: \"GPU-1\" Xid79");

    /** A problem. */
    Condition PROBLEM = new Condition("True", "Xid79", "1 GPU out of service");

    /** Of the API server; stays open. */
    KubernetesClient client();

    @BeforeEach
    default void aNode() {
        remove();
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
    default void remove() {
        client().nodes().withName(NODE).withGracePeriod(0).delete();
        await().atMost(LONG).until(() -> client().nodes().withName(NODE).get() == null);
        client().v1()
                .events()
                .inNamespace("default")
                .withField("involvedObject.name", NODE)
                .list()
                .getItems()
                .forEach(event -> client().resource(event).delete());
    }

    /** The adapter, its clock at an instant. */
    private KubernetesNodes nodes(Instant now) {
        Clock clock = Clock.fixed(now, ZoneOffset.UTC);
        return new KubernetesNodes(client(), new NodeEvents(client(), clock), clock);
    }

    private KubernetesNodes nodes() {
        return nodes(Instant.parse("2026-03-01T10:00:00Z"));
    }

    private static FoundNode done(Answer answer) {
        assertThat(answer).isInstanceOf(Answer.Done.class);
        return ((Answer.Done) answer).node();
    }

    private static MarksPlan.Write marked(FoundNode found) {
        List<Taint> taints = java.util.stream.Stream.concat(
                        found.taints().stream(), java.util.stream.Stream.of(Taint.ours("Xid79")))
                .toList();
        return new MarksPlan.Write(taints, "quarantined", "reboot", NOTE, true, true, List.of());
    }

    /** Reads, patches, and does both again where a control plane wrote to the new node in between. */
    private static FoundNode write(KubernetesNodes nodes, Function<FoundNode, MarksPlan.Write> plan) {
        for (int attempt = 0; attempt < 20; attempt++) {
            FoundNode found = done(nodes.read(NODE));
            Answer answer = nodes.patchMarks(found, plan.apply(found));
            if (!(answer instanceof Answer.Changed)) {
                return done(answer);
            }
        }
        throw new AssertionError("the node changed at each of 20 attempts");
    }

    private static List<Taint> foreign(FoundNode found) {
        return found.taints().stream()
                .filter(taint -> !taint.equals(Taint.ours("Xid79")))
                .toList();
    }

    private Node read() {
        return client().nodes().withName(NODE).require();
    }

    @Test
    default void marksAreReadAsTheyWereWritten() {
        KubernetesNodes nodes = nodes();
        assertThat(done(nodes.read(NODE)).note()).isEqualTo(MarksNote.NONE);

        write(nodes, NodeMarksContract::marked);

        FoundNode marked = done(nodes.read(NODE));
        assertThat(marked.note()).isEqualTo(NOTE);
        assertThat(marked.label()).isEqualTo("quarantined");
        assertThat(marked.nextStep()).isEqualTo("reboot");
        assertThat(marked.taintLikeOurs()).contains(Taint.ours("Xid79"));
    }

    @Test
    default void whatOthersWroteStays() {
        KubernetesNodes nodes = nodes();
        write(nodes, NodeMarksContract::marked);

        FoundNode clean = write(
                nodes, found -> new MarksPlan.Write(foreign(found), "", "", MarksNote.NONE, true, false, List.of()));

        assertThat(clean.taints())
                .doesNotContain(Taint.ours("Xid79"))
                .extracting(taint -> taint.key() + "=" + taint.value() + ":" + taint.effect())
                .contains("example.com/busy=yes:NoSchedule");
        assertThat(clean.label()).isEmpty();
        assertThat(clean.note()).isEqualTo(MarksNote.NONE);
        assertThat(read().getMetadata().getLabels())
                .containsEntry("example.com/mine", "yes")
                .doesNotContainKey("gpufleet.io/health");
        assertThat(read().getMetadata().getAnnotations())
                .containsEntry("example.com/mine", "yes")
                .doesNotContainKeys("gpufleet.io/marks", "gpufleet.io/next-step");
    }

    @Test
    default void aNodeThatChangedSinceItWasFoundIsNotPatched() {
        KubernetesNodes nodes = nodes();
        FoundNode found = done(nodes.read(NODE));
        client().nodes()
                .withName(NODE)
                .edit(node -> new NodeBuilder(node)
                        .editMetadata()
                        .addToLabels("example.com/mine", "changed")
                        .endMetadata()
                        .build());

        assertThat(nodes.patchMarks(found, marked(found))).isEqualTo(new Answer.Changed());
        assertThat(done(nodes.read(NODE)).taintLikeOurs()).isEmpty();
    }

    @Test
    default void aNodeThatIsGoneIsSaidToBeGoneAndNeverCreated() {
        KubernetesNodes nodes = nodes();
        FoundNode found = done(nodes.read(NODE));
        remove();

        assertThat(nodes.read(NODE)).isEqualTo(new Answer.Gone());
        assertThat(nodes.patchMarks(found, marked(found))).isEqualTo(new Answer.Gone());
        assertThat(nodes.patchCondition(found, PROBLEM)).isNotInstanceOf(Answer.Done.class);
        assertThat(client().nodes().withName(NODE).get()).isNull();
    }

    @Test
    default void warmingUpCreatesNothing() {
        int before = client().nodes().list().getItems().size();

        nodes().warmUp();

        assertThat(client().nodes().list().getItems()).hasSize(before);
    }

    @Test
    default void ourConditionStandsBesideThoseOfOthers() {
        // Given
        // A patch without resourceVersion: a real control plane writes to a new node at once.
        client().nodes().withName(NODE).subresource("status").patch(PatchContext.of(PatchType.STRATEGIC_MERGE), """
                        {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                         "message": "ready", "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                         "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
                        """);
        KubernetesNodes nodes = nodes();
        FoundNode found = done(nodes.read(NODE));

        // When
        FoundNode marked = done(nodes.patchCondition(found, PROBLEM));
        FoundNode other = done(nodes.patchCondition(marked, new Condition("False", "GpusHealthy", "fine")));

        // Then
        assertThat(marked.condition()).isEqualTo(PROBLEM);
        assertThat(other.condition()).isEqualTo(new Condition("False", "GpusHealthy", "fine"));
        assertThat(read().getStatus().getConditions())
                .extracting(NodeCondition::getType)
                .contains("Ready", "GpuUnhealthy")
                .doesNotHaveDuplicates();
    }

    @Test
    default void anEventToldAgainIsCounted() {
        // Given
        FoundNode found = done(nodes().read(NODE));
        Clock clock = Clock.systemUTC();

        // When
        try (var events = new NodeEvents(client(), clock)) {
            events.tell(found, true, "Xid79", "1 GPU out of service");
            await().atMost(LONG).untilAsserted(() -> assertThat(events()).hasSize(1));
            events.tell(found, true, "Xid79", "1 GPU out of service");
            await().atMost(LONG)
                    .untilAsserted(() ->
                            assertThat(events()).extracting(Event::getCount).containsExactly(2));
        }

        // Then
        assertThat(events()).singleElement().satisfies(event -> {
            assertThat(event.getType()).isEqualTo("Warning");
            assertThat(event.getInvolvedObject().getUid()).isEqualTo(found.uid());
        });
    }

    private List<Event> events() {
        return client().v1().events().inNamespace("default").list().getItems().stream()
                .filter(event -> NODE.equals(event.getInvolvedObject().getName()))
                .toList();
    }

    @Test
    default void theWatchTellsOfChangesAndOfTheEnd() {
        var told = new CopyOnWriteArrayList<String>();
        try (KubernetesNodes nodes = nodes()) {
            nodes.watch(new NodeWatcher() {
                @Override
                public void nodeChanged(String node) {
                    if (node.equals(NODE)) {
                        told.add("changed");
                    }
                }

                @Override
                public void nodeGone(String node, String uid) {
                    if (node.equals(NODE)) {
                        told.add("gone");
                    }
                }
            });
            // Listed is not yet watched.
            await().atMost(LONG)
                    .untilAsserted(() -> assertThat(nodes.notReady()).isEmpty());
            // A real cluster writes on a new Node, too.
            await().atMost(LONG).untilAsserted(() -> {
                FoundNode found = nodes.cached(NODE).orElseThrow();
                done(nodes.patchMarks(found, marked(found)));
            });
            await().atMost(LONG)
                    .until(() -> Objects.equals(
                            nodes.cached(NODE).map(FoundNode::note).orElse(MarksNote.NONE), NOTE));
            remove();
            await().atMost(LONG).until(() -> told.contains("gone"));

            assertThat(nodes.cached(NODE)).isEmpty();
            assertThat(told).startsWith("changed").endsWith("gone");
        }
    }
}
