package io.gpufleet.bench.fleet;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Nodes as the informer of a benchmark remembers them: name, UID and version. Whole ones of 100,000 nodes do not fit into its heap;
 * the handlers still receive each Node as it came.
 */
public final class NodeNames implements ItemStore<Node> {
    /** Nodes of one answer of the list. */
    private static final long PAGE = 500;

    private final Map<String, Node> nodes = new ConcurrentHashMap<>();

    private NodeNames() {}

    /** Hands every change of a Node to the handler until the informer is closed. */
    public static SharedIndexInformer<Node> inform(KubernetesClient client, ResourceEventHandler<Node> handler) {
        SharedIndexInformer<Node> informer =
                client.nodes().withLimit(PAGE).runnableInformer(0).itemStore(new NodeNames());
        informer.addEventHandler(handler);
        informer.run();
        return informer;
    }

    @Override
    public String getKey(Node node) {
        return node.getMetadata().getName();
    }

    @Override
    public @Nullable Node put(String key, Node node) {
        return nodes.put(
                key,
                new NodeBuilder()
                        .withNewMetadata()
                        .withName(node.getMetadata().getName())
                        .withUid(node.getMetadata().getUid())
                        .withResourceVersion(node.getMetadata().getResourceVersion())
                        .endMetadata()
                        .build());
    }

    @Override
    public @Nullable Node remove(String key) {
        return nodes.remove(key);
    }

    @Override
    public Stream<String> keySet() {
        return nodes.keySet().stream();
    }

    @Override
    public Stream<Node> values() {
        return nodes.values().stream();
    }

    @Override
    public int size() {
        return nodes.size();
    }

    @Override
    public @Nullable Node get(String key) {
        return nodes.get(key);
    }

    @Override
    public boolean isFullState() {
        return false;
    }
}
