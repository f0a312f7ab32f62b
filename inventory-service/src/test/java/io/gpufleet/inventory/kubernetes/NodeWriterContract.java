package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.gpufleet.inventory.app.KubernetesNodeEvent;
import io.gpufleet.inventory.app.NodeListener;
import io.gpufleet.inventory.app.NodeObject;
import io.gpufleet.inventory.app.NodeWriter.ApplyResult;
import io.gpufleet.inventory.app.NodeWriter.PatchResult;
import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.taint.NodeTaint;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Behaviour of an API server that the label writer and the watch rely on; the fake one and a real one must have it. */
abstract class NodeWriterContract {
    private static final Duration SOON = Duration.ofSeconds(20);

    final String name = "gpufleet-it-labels-" + UUID.randomUUID().toString().substring(0, 8);
    String uid = "";

    /** The API server under test. */
    abstract KubernetesClient client();

    KubernetesNodeWriter writer() {
        return new KubernetesNodeWriter(client(), Clock.systemUTC());
    }

    @BeforeEach
    void createNode() {
        Node node = new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("kept", "other")
                .endMetadata()
                .withNewSpec()
                .withUnschedulable(true)
                .endSpec()
                .build();
        uid = client().resource(node).create().getMetadata().getUid();
        // A patch without resourceVersion: the control plane of a real cluster updates a new Node at once.
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
        ApplyResult result = writer().apply(name, uid, labels);
        assertThat(result).isInstanceOf(ApplyResult.Applied.class);
        return ((ApplyResult.Applied) result).node();
    }

    private NodeObject currentNode() {
        return NodeObjectMapper.toModel(client().nodes().withName(name).get());
    }

    static LabelSet labelSet(Map<String, String> labels) {
        return new LabelSet(labels, Map.of());
    }

    private void setByAnotherManager(String key, String value) {
        client().nodes()
                .withName(name)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":{\"" + key + "\":\"" + value + "\"}}}");
    }

    private void removeByAnotherManager(String key) {
        client().nodes()
                .withName(name)
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"labels\":{\"" + key + "\":null}}}");
    }

    @Test
    void appliedLabelsAreOwned() {
        LabelSet desired = new LabelSet(
                Map.of("nvidia.com/gpu.count", "8", "gpu-type", "h100"), Map.of("gpu-type", "a long text, in full"));

        NodeObject updated = applied(desired);

        assertThat(updated.hasExactly(desired)).isTrue();
        assertThat(currentNode().hasExactly(desired)).isTrue();
        assertThat(currentNode().labels()).containsEntry("kept", "other");
        assertThat(currentNode().bootId()).isEqualTo("boot-1");
        assertThat(currentNode().unschedulable()).isTrue();
    }

    @Test
    void everyApplyAndEveryChangeOfTaintsIsOneRequest() {
        // Given
        var requests = new CopyOnWriteArrayList<String>();
        NodeObject observed = currentNode();
        NodeTaint taint = new NodeTaint("nvidia.com/gpu", "present", "NoSchedule");
        LabelSet labels = labelSet(Map.of("gpu-type", "h100"));
        try (KubernetesClient recording = recording(requests)) {
            var writer = new KubernetesNodeWriter(recording, Clock.systemUTC());
            // When
            writer.apply(name, uid, labels);
            writer.apply(name, uid, LabelSet.NONE);
            writer.apply(name, "uid-of-another-node", labels);
            writer.patchTaints(observed, observed.taints().plan(Set.of(taint)));
        }
        // Then
        assertThat(requests).hasSize(4).containsOnly("PATCH /api/v1/nodes/" + name);
    }

    private KubernetesClient recording(List<String> requests) {
        return new KubernetesClientBuilder()
                .withConfig(client().getConfiguration())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("recorded", new Interceptor() {
                    @Override
                    public void before(BasicBuilder headers, HttpRequest request, RequestTags tags) {
                        requests.add(request.method() + " " + request.uri().getPath());
                    }
                }))
                .build();
    }

    @Test
    void recordedEventIsAboutTheNode() {
        writer().recordEvent(currentNode(), new KubernetesNodeEvent(true, "DriverFailed", "failed: no headers"));

        assertThat(client().v1().events().inNamespace("default").list().getItems())
                .filteredOn(event -> event.getInvolvedObject().getName().equals(name))
                // A real control plane records that the Node was registered.
                .filteredOn(event -> NodeObjectMapper.FIELD_MANAGER.equals(event.getReportingComponent()))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getType()).isEqualTo("Warning");
                    assertThat(event.getReason()).isEqualTo("DriverFailed");
                    assertThat(event.getInvolvedObject().getUid()).isEqualTo(uid);
                });
    }

    @Test
    void labelNoLongerAppliedIsRemoved() {
        applied(new LabelSet(Map.of("gpu-type", "h100", "gpu-memory", "80Gi"), Map.of("gpu-type", "text")));
        applied(labelSet(Map.of("gpu-type", "a100")));

        assertThat(currentNode().labels()).containsEntry("gpu-type", "a100").doesNotContainKey("gpu-memory");
        assertThat(currentNode().owned().annotations()).isEmpty();

        applied(LabelSet.NONE);
        assertThat(currentNode().labels()).doesNotContainKey("gpu-type").containsEntry("kept", "other");
    }

    @Test
    void labelOfAnotherManagerIsAConflictAndKept() {
        setByAnotherManager("gpu-type", "mine");
        setByAnotherManager("nvidia.com/gpu.count", "99");

        ApplyResult result = writer().apply(
                        name,
                        uid,
                        labelSet(Map.of("gpu-type", "h100", "nvidia.com/gpu.count", "8", "gpu-memory", "80Gi")));

        assertThat(result).isEqualTo(new ApplyResult.Conflict(Set.of("gpu-type", "nvidia.com/gpu.count")));
        assertThat(currentNode().labels()).containsEntry("gpu-type", "mine").doesNotContainKey("gpu-memory");
    }

    @Test
    void equalValueOfAnotherManagerIsNoConflict() {
        setByAnotherManager("gpu-type", "h100");
        assertThat(applied(labelSet(Map.of("gpu-type", "h100"))).owned().labels())
                .containsExactly("gpu-type");
    }

    @Test
    void labelsOfFeatureDiscoveryAreTakenOverAndGivenBack() {
        LabelSet desired = labelSet(Map.of("nvidia.com/gpu.count", "8", "nvidia.com/gpu.family", "hopper"));
        setByAnotherManager("nvidia.com/gpu.count", "8");
        setByAnotherManager("nvidia.com/gpu.family", "hopper");
        applied(desired);

        // When feature discovery leaves, it removes what it wrote, although it is shared
        removeByAnotherManager("nvidia.com/gpu.count");
        assertThat(currentNode().hasExactly(desired)).isFalse();
        assertThat(applied(desired).hasExactly(desired)).isTrue();

        // When it is back, it writes the values that are there and owns none of those that it did not change
        setByAnotherManager("nvidia.com/gpu.count", "8");
        setByAnotherManager("nvidia.com/gpu.family", "hopper");
        applied(LabelSet.NONE);
        assertThat(currentNode().labels())
                .doesNotContainKey("nvidia.com/gpu.count")
                .containsEntry("nvidia.com/gpu.family", "hopper");

        // Then what it writes after that is its own
        setByAnotherManager("nvidia.com/gpu.count", "8");
        applied(LabelSet.NONE);
        assertThat(currentNode().labels()).containsEntry("nvidia.com/gpu.count", "8");
    }

    @Test
    void labelOverwrittenByAnotherManagerIsNoLongerOwned() {
        applied(labelSet(Map.of("gpu-type", "h100")));
        setByAnotherManager("gpu-type", "mine");

        assertThat(currentNode().owned().labels()).isEmpty();
        assertThat(writer().apply(name, uid, labelSet(Map.of("gpu-type", "h100"))))
                .isEqualTo(new ApplyResult.Conflict(Set.of("gpu-type")));
    }

    @Test
    void nodeOfAnotherUidIsNotTouched() {
        ApplyResult result = writer().apply(name, UUID.randomUUID().toString(), labelSet(Map.of("gpu-type", "h100")));

        assertThat(result).isInstanceOf(ApplyResult.Failed.class);
        assertThat(currentNode().labels()).doesNotContainKey("gpu-type");
    }

    @Test
    void deletedNodeIsNotCreated() {
        removeNode();

        ApplyResult result = writer().apply(name, uid, labelSet(Map.of("gpu-type", "h100")));

        assertThat(result).isInstanceOf(ApplyResult.Failed.class);
        assertThat(client().nodes().withName(name).get()).isNull();
    }

    /** Tries again like the service: the controllers of a real cluster change the taints of a new Node at the same time. */
    private NodeObject patched(Set<NodeTaint> desired) {
        return await().atMost(SOON)
                .until(() -> tried(desired), Optional::isPresent)
                .orElseThrow();
    }

    private Optional<NodeObject> tried(Set<NodeTaint> desired) {
        NodeObject observed = currentNode();
        return writer().patchTaints(observed, observed.taints().plan(desired)) instanceof PatchResult.Patched(var node)
                ? Optional.of(node)
                : Optional.empty();
    }

    /** Replaces the taint of the same key and effect. */
    private void taintByAnotherManager(NodeTaint taint) {
        await().atMost(SOON)
                .ignoreExceptionsInstanceOf(KubernetesClientException.class)
                .until(() -> {
                    Node node = client().nodes().withName(name).get();
                    client().resource(new NodeBuilder(node)
                                    .editSpec()
                                    .removeMatchingFromTaints(
                                            present -> taint.key().equals(present.getKey()))
                                    .addNewTaint()
                                    .withKey(taint.key())
                                    .withValue(taint.value())
                                    .withEffect(taint.effect())
                                    .endTaint()
                                    .endSpec()
                                    .build())
                            .update();
                    return true;
                });
    }

    @Test
    void addedTaintIsOwnedAndRemovedAgainBesideThoseOfOthers() {
        // Given
        NodeTaint own = new NodeTaint("nvidia.com/gpu", "present", "NoSchedule");
        NodeTaint second = new NodeTaint("example.com/gpu", "", "NoExecute");
        NodeTaint others = new NodeTaint("example.com/rack", "burning", "NoSchedule");
        applied(labelSet(Map.of("gpu-type", "h100")));
        // When
        patched(Set.of(own, second));
        taintByAnotherManager(others);
        // Then
        assertThat(currentNode().taints().present()).contains(own, second, others);
        assertThat(currentNode().taints().applied()).isEqualTo(second + "," + own);
        // When
        patched(Set.of(second));
        patched(Set.of());
        // Then
        assertThat(currentNode().taints().present()).contains(others).doesNotContain(own, second);
        assertThat(currentNode().taints().applied()).isEmpty();
        assertThat(currentNode().owned().labels()).containsExactly("gpu-type");
    }

    @Test
    void lastTaintIsRemovedAndAddedAgain() {
        NodeTaint own = new NodeTaint("nvidia.com/gpu", "present", "NoSchedule");
        for (int round = 0; round < 2; round++) {
            assertThat(patched(Set.of(own)).taints().present()).contains(own);
            assertThat(patched(Set.of()).taints().present()).doesNotContain(own);
        }
    }

    @Test
    void taintThatChangedSinceItWasObservedIsNotTouched() {
        // Given
        NodeTaint own = new NodeTaint("nvidia.com/gpu", "present", "NoSchedule");
        NodeObject observed = patched(Set.of(own));
        NodeTaint changed = new NodeTaint("nvidia.com/gpu", "ours", "NoSchedule");
        taintByAnotherManager(changed);
        // When
        PatchResult result = writer().patchTaints(observed, observed.taints().plan(Set.of()));
        // Then
        assertThat(result).isInstanceOf(PatchResult.Failed.class);
        assertThat(currentNode().taints().present()).contains(changed);
    }

    @Test
    void nodeOfAnotherUidIsNotTainted() {
        // Given
        NodeObject observed = currentNode();
        removeNode();
        createNode();
        // When
        NodeTaint own = new NodeTaint("nvidia.com/gpu", "present", "NoSchedule");
        PatchResult result = writer().patchTaints(observed, observed.taints().plan(Set.of(own)));
        // Then
        assertThat(result).isInstanceOf(PatchResult.Failed.class);
        assertThat(currentNode().taints().present()).doesNotContain(own);
    }

    @Test
    void watchReportsNodeChangesAndDeletion() {
        var received = new CopyOnWriteArrayList<String>();
        var listener = new NodeListener() {
            @Override
            public void onChanged(NodeObject node) {
                if (node.name().equals(name)) {
                    received.add(node.uid() + " " + node.labels().getOrDefault("gpu-type", "-"));
                }
            }

            @Override
            public void onDeleted(String node, String deletedUid) {
                if (node.equals(name)) {
                    received.add("deleted " + deletedUid);
                }
            }
        };
        try (NodeWatch watch = NodeWatch.open(client(), List.of(listener))) {
            assertThat(watch).isNotNull();
            await().atMost(SOON).until(() -> received.contains(uid + " -"));
            applied(labelSet(Map.of("gpu-type", "h100")));
            await().atMost(SOON).until(() -> received.contains(uid + " h100"));
            removeNode();
            await().atMost(SOON).until(() -> received.contains("deleted " + uid));
        }
    }
}
