package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What the informer of Nodes remembers. */
class NodeStoreTest {
    private final NodeStore store = new NodeStore();

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
