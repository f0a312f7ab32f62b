package io.gpufleet.testbed.fakeapiserver;

import static io.gpufleet.testbed.fakeapiserver.TestObjects.refusal;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Contract of patches, on the lists and maps that gpufleet writes. */
interface PatchContract {
    TestObjects testObjects();

    private KubernetesClient client() {
        return testObjects().client();
    }

    private Node read(Node node) {
        return client().resource(node).get();
    }

    /** Taints of ours; a real control plane may add its own to a node without a kubelet. */
    private static List<Taint> ours(Node node) {
        return node.getSpec().getTaints().stream()
                .filter(taint -> taint.getKey().startsWith("contract/"))
                .toList();
    }

    private void patch(Node node, PatchType type, String patch) {
        client().nodes().withName(node.getMetadata().getName()).patch(PatchContext.of(type), patch);
    }

    @Test
    default void jsonPatchIsAllOrNothing() {
        // Given
        ConfigMap map = testObjects().configMap("json", Map.of("a/b", "1"));
        // When
        ConfigMap patched = client().resource(map)
                .patch(
                        PatchContext.of(PatchType.JSON),
                        "[{\"op\":\"test\",\"path\":\"/metadata/labels/a~1b\",\"value\":\"1\"},"
                                + "{\"op\":\"add\",\"path\":\"/data/more\",\"value\":\"2\"},"
                                + "{\"op\":\"remove\",\"path\":\"/data/key\"}]");
        var refused = refusal(() -> client().resource(map)
                .patch(
                        PatchContext.of(PatchType.JSON),
                        "[{\"op\":\"add\",\"path\":\"/data/lost\",\"value\":\"3\"},"
                                + "{\"op\":\"test\",\"path\":\"/data/more\",\"value\":\"9\"}]"));
        // Then
        assertThat(patched.getData()).containsExactlyEntriesOf(Map.of("more", "2"));
        assertThat(refused.getCode()).isEqualTo(422);
        assertThat(client().resource(map).get().getData()).containsOnlyKeys("more");
    }

    @Test
    default void lastLabelRemovedByJsonPatchTakesTheMapWithIt() {
        // Given
        ConfigMap map = testObjects().configMap("last-label", Map.of("here", "1"));
        // When
        client().resource(map)
                .patch(
                        PatchContext.of(PatchType.JSON),
                        map.getMetadata().getLabels().keySet().stream()
                                .map(key -> "{\"op\":\"remove\",\"path\":\"/metadata/labels/" + key.replace("/", "~1")
                                        + "\"}")
                                .collect(Collectors.joining(",", "[", "]")));
        ConfigMap patched = client().resource(map)
                .patch(
                        PatchContext.of(PatchType.JSON),
                        "[{\"op\":\"test\",\"path\":\"/metadata/labels\",\"value\":null},"
                                + "{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"again\":\"1\"}}]");
        // Then
        assertThat(patched.getMetadata().getLabels()).containsExactlyEntriesOf(Map.of("again", "1"));
    }

    @Test
    default void jsonPatchTestsForAnAbsentMemberByNull() {
        // Given
        ConfigMap map = testObjects().configMap("absent", Map.of("here", "1"));
        // When
        ConfigMap patched = client().resource(map)
                .patch(
                        PatchContext.of(PatchType.JSON),
                        "[{\"op\":\"test\",\"path\":\"/metadata/labels/gone\",\"value\":null},"
                                + "{\"op\":\"add\",\"path\":\"/data/more\",\"value\":\"2\"}]");
        // Then
        assertThat(patched.getData()).containsEntry("more", "2");
        for (String wrong : List.of(
                "{\"op\":\"test\",\"path\":\"/metadata/labels/here\",\"value\":null}",
                "{\"op\":\"test\",\"path\":\"/metadata/labels/gone\",\"value\":\"1\"}",
                "{\"op\":\"test\",\"path\":\"/binaryData/gone\",\"value\":null}",
                "{\"op\":\"test\",\"path\":\"/metadata/managedFields/99\",\"value\":null}")) {
            assertThat(refusal(() -> client().resource(map).patch(PatchContext.of(PatchType.JSON), "[" + wrong + "]"))
                            .getCode())
                    .as(wrong)
                    .isEqualTo(422);
        }
    }

    @Test
    default void secondTaintOfAKeyAndEffectIsRefused() {
        // Given
        Node node = testObjects().node(1);
        String add = "[{\"op\":\"add\",\"path\":\"/spec/taints\",\"value\":[%s]}]";
        String taint = "{\"key\":\"contract/busy\",\"value\":\"%s\",\"effect\":\"NoSchedule\"}";
        // When
        var refused = refusal(() ->
                patch(node, PatchType.JSON, add.formatted(taint.formatted("one") + "," + taint.formatted("two"))));
        // Then
        assertThat(refused.getCode()).isEqualTo(422);
        assertThat(refused.getMessage()).contains("Duplicate value");
        assertThat(ours(read(node))).isEmpty();
    }

    @Test
    default void mergePatchSetsAndRemoves() {
        // Given
        ConfigMap map = testObjects().configMap("merge", Map.of("gone", "1", "kept", "1"));
        // When
        ConfigMap patched = client().resource(map)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":{\"gone\":null,\"new\":\"2\"}}}");
        // Then
        assertThat(patched.getMetadata().getLabels())
                .containsExactlyInAnyOrderEntriesOf(Map.of("kept", "1", "new", "2"));
    }

    @Test
    default void mergePatchWithStaleResourceVersionIsRefused() {
        // Given
        ConfigMap map = testObjects().configMap("guarded", Map.of());
        client().resource(map).patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"a\":\"1\"}}");
        // When
        var refused = refusal(() -> client().resource(map)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"resourceVersion\":\""
                                + map.getMetadata().getResourceVersion() + "\"},\"data\":{\"a\":\"2\"}}"));
        // Then
        assertThat(refused.getCode()).isEqualTo(409);
    }

    @Test
    default void strategicMergeReplacesTaintsAndMergesConditions() {
        // Given
        Node node = testObjects().node(1);
        patch(node, PatchType.STRATEGIC_MERGE, taints("contract/a"));
        // When
        patch(node, PatchType.STRATEGIC_MERGE, taints("contract/b"));
        client().nodes()
                .withName(node.getMetadata().getName())
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.STRATEGIC_MERGE),
                        "{\"status\":{\"conditions\":[{\"type\":\"GpuUnhealthy\",\"status\":\"True\","
                                + "\"reason\":\"Xid79\",\"message\":\"fell off the bus\"}]}}");
        // Then
        Node found = read(node);
        assertThat(ours(found)).extracting(Taint::getKey).containsExactly("contract/b");
        assertThat(found.getStatus().getConditions())
                .extracting(condition -> condition.getType() + "=" + condition.getReason())
                .contains("Ready=Contract", "GpuUnhealthy=Xid79");
    }

    private static String taints(String key) {
        return "{\"spec\":{\"taints\":[{\"key\":\"" + key + "\",\"value\":\"x\",\"effect\":\"NoSchedule\"}]}}";
    }

    @Test
    default void taintsAreReplacedOnlyWithCurrentResourceVersion() {
        // Given
        Node node = testObjects().node(1);
        Node seen = read(node);
        patch(node, PatchType.JSON_MERGE, "{\"metadata\":{\"labels\":{\"contract\":\"changed\"}}}");
        // When
        var refused = refusal(() -> client().resource(tainted(seen)).update());
        // A real control plane may write between the two; then the same error occurs again.
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .ignoreExceptions()
                .until(() -> client().resource(tainted(read(node))).update() != null);
        // Then
        assertThat(refused.getCode()).isEqualTo(409);
        assertThat(ours(read(node))).extracting(Taint::getKey).containsExactly("contract/mine");
    }

    private static Node tainted(Node node) {
        return new NodeBuilder(node)
                .editSpec()
                .addToTaints(new TaintBuilder()
                        .withKey("contract/mine")
                        .withValue("x")
                        .withEffect("NoSchedule")
                        .build())
                .endSpec()
                .build();
    }

    @Test
    default void specAndStatusHaveTheirOwnPaths() {
        // Given
        Node node = testObjects().node(1);
        // When
        patch(
                node,
                PatchType.JSON_MERGE,
                "{\"spec\":{\"unschedulable\":true},\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"7\"}}}");
        client().nodes()
                .withName(node.getMetadata().getName())
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\":{\"unschedulable\":null},\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"5\"}}}");
        // Then
        Node found = read(node);
        assertThat(found.getSpec().getUnschedulable()).isTrue();
        assertThat(found.getStatus().getCapacity()).containsEntry("nvidia.com/gpu", new Quantity("5"));
    }

    @Test
    default void unknownPatchFormatIsRefused() {
        // Given
        ConfigMap map = testObjects().configMap("format", Map.of());
        String path = "/api/v1/namespaces/" + testObjects().namespace() + "/configmaps/"
                + map.getMetadata().getName();
        // When
        var refused = refusal(() -> client().raw(path, "PATCH", Map.of("a", "b")));
        // Then
        assertThat(refused.getCode()).isEqualTo(415);
    }
}
