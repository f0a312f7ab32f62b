package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * GPU models that a pod may run on: Node objects joined with the models that node daemons announced. Immutable: a
 * change gives another index, an event without effect gives the same one.
 */
public final class GpuModelIndex {
    /** Index without nodes. */
    public static final GpuModelIndex EMPTY = new GpuModelIndex(Map.of(), Map.of(), Map.of());

    private static final String PRODUCT_LABEL = "nvidia.com/gpu.product";

    private final Map<String, NodeInfo> nodes;
    private final Map<String, List<GpuModel>> modelsByNode;
    private final Map<String, String> shortModelByProduct;

    private GpuModelIndex(
            Map<String, NodeInfo> nodes,
            Map<String, List<GpuModel>> modelsByNode,
            Map<String, String> shortModelByProduct) {
        this.nodes = nodes;
        this.modelsByNode = modelsByNode;
        this.shortModelByProduct = shortModelByProduct;
    }

    /** The index after a Node object was observed. */
    GpuModelIndex withNode(NodeInfo node) {
        return node.equals(nodes.get(node.name()))
                ? this
                : new GpuModelIndex(with(nodes, node.name(), node), modelsByNode, shortModelByProduct);
    }

    /** The index after a Node object was deleted. */
    GpuModelIndex withoutNode(String name) {
        if (!nodes.containsKey(name)) {
            return this;
        }
        return new GpuModelIndex(without(nodes, name), modelsByNode, shortModelByProduct);
    }

    /** The index after the daemon of a node announced its models; none when the node is not known any more. */
    GpuModelIndex withModels(String node, List<GpuModel> models) {
        if (models.equals(modelsByNode.getOrDefault(node, List.of()))) {
            return this;
        }
        Map<String, String> products = new HashMap<>(shortModelByProduct);
        models.forEach(model -> products.put(labelValue(model.model()), model.shortModel()));
        return new GpuModelIndex(
                nodes,
                models.isEmpty() ? without(modelsByNode, node) : with(modelsByNode, node, List.copyOf(models)),
                products);
    }

    private static <V> Map<String, V> with(Map<String, V> map, String key, V value) {
        Map<String, V> next = new HashMap<>(map);
        next.put(key, value);
        return next;
    }

    private static <V> Map<String, V> without(Map<String, V> map, String key) {
        Map<String, V> next = new HashMap<>(map);
        next.remove(key);
        return next;
    }

    /** Short models of the nodes that the pod may run on; {@link QuotaLimit#UNKNOWN} for a node without known model. */
    Set<String> modelsFor(SchedulingConstraints constraints) {
        var models = new TreeSet<String>();
        String nodeName = constraints.nodeName();
        if (!nodeName.isEmpty()) {
            models.addAll(modelsOf(nodes.getOrDefault(nodeName, new NodeInfo(nodeName, Map.of(), true))));
        } else {
            nodes.values().stream()
                    .filter(constraints::allows)
                    .map(this::modelsOf)
                    .forEach(models::addAll);
        }
        if (models.isEmpty()) {
            models.add(byProduct(constraints.nodeSelector().getOrDefault(PRODUCT_LABEL, ""))
                    .orElse(QuotaLimit.UNKNOWN));
        }
        return Set.copyOf(models);
    }

    private Set<String> modelsOf(NodeInfo node) {
        List<GpuModel> announced = modelsByNode.getOrDefault(node.name(), List.of());
        if (!announced.isEmpty()) {
            var models = new TreeSet<String>();
            announced.forEach(model -> models.add(model.shortModel()));
            return models;
        }
        return node.hasGpus()
                ? Set.of(
                        byProduct(node.labels().getOrDefault(PRODUCT_LABEL, "")).orElse(QuotaLimit.UNKNOWN))
                : Set.of();
    }

    // A label may continue after the product (-SHARED, -MIG-1g.5gb), and one product may be the start of another.
    private Optional<String> byProduct(String label) {
        return shortModelByProduct.keySet().stream()
                .filter(product -> label.equals(product) || label.startsWith(product + "-"))
                .max(Comparator.comparingInt(String::length))
                .map(shortModelByProduct::get);
    }

    private static String labelValue(String model) {
        return model.replace(' ', '-');
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof GpuModelIndex index
                && nodes.equals(index.nodes)
                && modelsByNode.equals(index.modelsByNode)
                && shortModelByProduct.equals(index.shortModelByProduct);
    }

    @Override
    public int hashCode() {
        return Objects.hash(nodes, modelsByNode, shortModelByProduct);
    }
}
