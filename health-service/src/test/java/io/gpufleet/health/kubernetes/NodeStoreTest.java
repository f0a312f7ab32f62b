package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.testbed.testkit.LogLines;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the informer of Nodes remembers. */
class NodeStoreTest {
    private Instant now = Instant.parse("2026-03-01T10:00:00Z");
    private final NodeStore store = new NodeStore(((InstantSource) () -> now).withZone(ZoneOffset.UTC));

    private static Node node(String name, String product) {
        return Serialization.unmarshal("""
                apiVersion: v1
                kind: Node
                metadata:
                  name: %s
                  uid: uid-%s
                  resourceVersion: "7"
                  labels: {nvidia.com/gpu.product: %s}
                  annotations: {gpufleet.io/applied: '{"revision": 3, "taint": "Xid79"}', big: text}
                  managedFields:
                    - manager: kubectl-taint
                      operation: Update
                      time: "2026-03-01T10:00:00Z"
                      fieldsV1: {"f:spec": {"f:taints": {}}}
                spec:
                  unschedulable: true
                  taints: [{key: gpufleet.io/unhealthy, value: Xid79, effect: NoSchedule}]
                status:
                  nodeInfo: {bootID: boot-1}
                  images: [{names: [example.com/image], sizeBytes: 1}]
                  conditions:
                    - {type: Ready, status: "True"}
                    - {type: GpuUnhealthy, status: "True", reason: Xid79, lastTransitionTime: "2026-03-01T09:00:00Z"}
                """.formatted(name, name, product), Node.class);
    }

    @Test
    void nodeIsObservedAsItCame() {
        Node node = node("a", "H100");
        // When
        store.put("a", node);
        // Then
        assertThat(store.observed("a")).contains(NodeMapper.toModel(node));
        assertThat(store.observed("b")).isEmpty();
    }

    private static Node annotated(String text) {
        return new NodeBuilder(node("a", "H100"))
                .editMetadata()
                .addToAnnotations("gpufleet.io/applied", text)
                .endMetadata()
                .build();
    }

    @Test
    void annotationThatCannotBeReadIsOneLineUntilItIsAnother() {
        try (var lines = LogLines.of(NodeStore.class.getName())) {
            store.put("a", node("a", "H100"));
            store.put("a", annotated("{broken\nby hand"));
            store.put("a", annotated("{broken\nby hand"));
            assertThat(lines.all())
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith("annotation cannot be read")
                            .endsWith("remove the annotation node=a gpufleet.io/applied={broken by hand"));
            // When it is repaired and broken again
            store.put("a", node("a", "H100"));
            store.put("a", annotated("null"));
            // Then
            assertThat(lines.all()).hasSize(2);
            assertThat(store.observed("a").orElseThrow().applied()).isEqualTo(AppliedAnnotation.NONE);
        }
    }

    private static Node version(Node node, String uid, String version) {
        return new NodeBuilder(node)
                .editMetadata()
                .withUid(uid)
                .withResourceVersion(version)
                .endMetadata()
                .build();
    }

    @Test
    void nodeIsAsWeWroteItUntilTheWatchShowsThatOrALaterVersion() {
        // Given
        Node before = version(node("a", "H100"), "uid-a", "7");
        ObservedNode written = NodeMapper.toModel(version(node("a", "written"), "uid-a", "10"));
        store.put("a", before);
        store.wrote(written);

        // When the watch shows what another client wrote before
        store.put("a", version(before, "uid-a", "9"));

        // Then ours is newer
        assertThat(store.observed("a")).contains(written);

        // And a later version counts
        Node later = version(node("a", "later"), "uid-a", "11");
        store.put("a", later);
        assertThat(store.observed("a")).contains(NodeMapper.toModel(later));
    }

    @ParameterizedTest
    @CsvSource({"uid-b, 8", "uid-a, 10", "uid-a, opaque"})
    void watchCountsForANodeOfAnotherUidOrWithoutAnOlderVersion(String uid, String version) {
        store.put("a", version(node("a", "H100"), "uid-a", "7"));
        store.wrote(
                NodeMapper.toModel(version(node("a", "written"), "uid-a", version.equals("opaque") ? version : "10")));

        Node shown = version(node("a", "shown"), uid, version);
        store.put("a", shown);

        assertThat(store.observed("a")).contains(NodeMapper.toModel(shown));
    }

    @Test
    void deletedNodeIsNotThereAfterAWriteEither() {
        store.put("a", node("a", "H100"));
        store.wrote(NodeMapper.toModel(version(node("a", "written"), "uid-a", "10")));

        store.remove("a");

        assertThat(store.observed("a")).isEmpty();
    }

    @Test
    void watchThatNeverShowsAWriteIsBelievedAfterAWhile() {
        Node restored = version(node("a", "H100"), "uid-a", "7");
        store.put("a", restored);
        store.wrote(NodeMapper.toModel(version(node("a", "written"), "uid-a", "10")));

        now = now.plusSeconds(11);

        assertThat(store.observed("a")).contains(NodeMapper.toModel(restored));
    }

    @Test
    void informerGetsNameUidAndVersionOnly() {
        Node skeleton = new NodeBuilder()
                .withNewMetadata()
                .withName("a")
                .withUid("uid-a")
                .withResourceVersion("7")
                .endMetadata()
                .build();
        // When
        assertThat(store.put("a", node("a", "H100"))).isNull();
        // Then
        assertThat(store.get("a")).isEqualTo(skeleton);
        assertThat(store.values()).containsExactly(skeleton);
        assertThat(store.put("a", node("a", "H200"))).isEqualTo(skeleton);
        assertThat(store.remove("a")).isEqualTo(skeleton);
        assertThat(store.get("a")).isNull();
        assertThat(store.observed("a")).isEmpty();
    }

    @Test
    void conditionKeepsTheTimeOfItsLastChangeOfStatus() {
        store.put("a", node("a", "H100"));
        // Then
        assertThat(store.conditionSince("a", "True")).contains("2026-03-01T09:00:00Z");
        assertThat(store.conditionSince("a", "False")).isEmpty();
        assertThat(store.conditionSince("b", "True")).isEmpty();
    }

    @Test
    void equalLabelsOfTwoNodesAreKeptOnce() {
        store.put("a", node("a", new String("H100")));
        store.put("b", node("b", new String("H100")));
        // Then
        assertThat(product("a")).isEqualTo("H100").isSameAs(product("b"));
    }

    private String product(String name) {
        ObservedNode node = store.observed(name).orElseThrow();
        Map<String, String> labels = node.facts().labels();
        return Objects.requireNonNull(labels.get("nvidia.com/gpu.product"));
    }
}
