package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.inventory.app.LabelWriter.Outcome;
import io.gpufleet.inventory.app.NodeListener;
import io.gpufleet.inventory.app.NodeObject;
import io.gpufleet.inventory.model.LabelSet;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the room needs of an API server; the stand-in and a real one keep it alike. */
abstract class LabelsContract {
    private static final Duration SOON = Duration.ofSeconds(20);

    final String name = "gpufleet-it-labels-" + UUID.randomUUID().toString().substring(0, 8);
    String uid = "";

    /** The API server under test. */
    abstract KubernetesClient client();

    ServerSideLabels labels() {
        return new ServerSideLabels(client());
    }

    @BeforeEach
    void createNode() {
        Node node = new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("kept", "by-somebody")
                .endMetadata()
                .withNewSpec()
                .withUnschedulable(true)
                .endSpec()
                .build();
        uid = client().resource(node).create().getMetadata().getUid();
        // A patch without resourceVersion: a real control plane writes to a new node at once.
        client().nodes().withName(name).subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), """
                        {"status": {"nodeInfo": {"bootID": "boot-1", "architecture": "amd64", "kernelVersion": "6",
                         "containerRuntimeVersion": "none", "kubeProxyVersion": "none", "kubeletVersion": "v1",
                         "machineID": "m", "operatingSystem": "linux", "osImage": "none", "systemUUID": "s"}}}
                        """);
    }

    @AfterEach
    void removeNode() {
        client().nodes().withName(name).delete();
    }

    private NodeObject applied(LabelSet labels) {
        Outcome outcome = labels().apply(name, uid, labels);
        assertThat(outcome).isInstanceOf(Outcome.Applied.class);
        return ((Outcome.Applied) outcome).now();
    }

    private NodeObject found() {
        return NodeReader.read(client().nodes().withName(name).get());
    }

    static LabelSet set(Map<String, String> labels) {
        return new LabelSet(labels, Map.of());
    }

    private void foreign(String key, String value) {
        client().nodes()
                .withName(name)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":{\"" + key + "\":\"" + value + "\"}}}");
    }

    @Test
    void labelsLandAndAreOurs() {
        LabelSet wanted = new LabelSet(
                Map.of("nvidia.com/gpu.count", "8", "gpu-type", "h100"), Map.of("gpu-type", "a long text, whole"));

        NodeObject now = applied(wanted);

        assertThat(now.wears(wanted)).isTrue();
        assertThat(found().wears(wanted)).isTrue();
        assertThat(found().labels()).containsEntry("kept", "by-somebody");
        assertThat(found().bootId()).isEqualTo("boot-1");
        assertThat(found().unschedulable()).isTrue();
    }

    @Test
    void whatIsNoLongerClaimedGoesAway() {
        applied(new LabelSet(Map.of("gpu-type", "h100", "gpu-memory", "80Gi"), Map.of("gpu-type", "text")));
        applied(set(Map.of("gpu-type", "a100")));

        assertThat(found().labels()).containsEntry("gpu-type", "a100").doesNotContainKey("gpu-memory");
        assertThat(found().annotations()).isEmpty();

        applied(LabelSet.NONE);
        assertThat(found().labels()).doesNotContainKey("gpu-type").containsEntry("kept", "by-somebody");
    }

    @Test
    void labelOfSomebodyElseIsNamedAndLeft() {
        foreign("gpu-type", "mine");
        foreign("nvidia.com/gpu.count", "99");

        Outcome outcome = labels().apply(
                        name, uid, set(Map.of("gpu-type", "h100", "nvidia.com/gpu.count", "8", "gpu-memory", "80Gi")));

        assertThat(outcome).isEqualTo(new Outcome.Owned(Set.of("gpu-type", "nvidia.com/gpu.count")));
        assertThat(found().labels()).containsEntry("gpu-type", "mine").doesNotContainKey("gpu-memory");
    }

    @Test
    void equalValueOfSomebodyElseIsNoConflict() {
        foreign("gpu-type", "h100");
        assertThat(applied(set(Map.of("gpu-type", "h100"))).ownLabels()).containsExactly("gpu-type");
    }

    @Test
    void labelTakenFromUsIsNoLongerOurs() {
        applied(set(Map.of("gpu-type", "h100")));
        foreign("gpu-type", "mine");

        assertThat(found().ownLabels()).isEmpty();
        assertThat(labels().apply(name, uid, set(Map.of("gpu-type", "h100"))))
                .isEqualTo(new Outcome.Owned(Set.of("gpu-type")));
    }

    @Test
    void nodeOfAnotherUidIsNotTouched() {
        Outcome outcome = labels().apply(name, UUID.randomUUID().toString(), set(Map.of("gpu-type", "h100")));

        assertThat(outcome).isInstanceOf(Outcome.Failed.class);
        assertThat(found().labels()).doesNotContainKey("gpu-type");
    }

    @Test
    void nodeThatIsGoneIsNotCreated() {
        removeNode();

        Outcome outcome = labels().apply(name, uid, set(Map.of("gpu-type", "h100")));

        assertThat(outcome).isInstanceOf(Outcome.Failed.class);
        assertThat(client().nodes().withName(name).get()).isNull();
    }

    @Test
    void watchTellsOfANodeItsChangesAndItsEnd() {
        var heard = new CopyOnWriteArrayList<String>();
        var listener = new NodeListener() {
            @Override
            public void seen(NodeObject node) {
                if (node.name().equals(name)) {
                    heard.add(node.uid() + " " + node.labels().getOrDefault("gpu-type", "-"));
                }
            }

            @Override
            public void gone(String node, String gone) {
                if (node.equals(name)) {
                    heard.add("gone " + gone);
                }
            }
        };
        try (NodeWatch watch = NodeWatch.open(client(), List.of(listener))) {
            assertThat(watch).isNotNull();
            await().atMost(SOON).until(() -> heard.contains(uid + " -"));
            applied(set(Map.of("gpu-type", "h100")));
            await().atMost(SOON).until(() -> heard.contains(uid + " h100"));
            removeNode();
            await().atMost(SOON).until(() -> heard.contains("gone " + uid));
        }
    }
}
