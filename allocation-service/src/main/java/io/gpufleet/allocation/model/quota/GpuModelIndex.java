package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * GPU models that a pod may run on: Node objects joined with the models that node daemons announced. Immutable; {@link
 * MutableGpuModelIndex} makes the next one.
 */
public final class GpuModelIndex {
    /** Index without nodes. */
    public static final GpuModelIndex EMPTY = new GpuModelIndex(Map.of(), Map.of(), Map.of());

    private static final String PRODUCT_LABEL = "nvidia.com/gpu.product";

    private final Map<String, NodeInfo> nodes;
    private final Map<String, List<GpuModel>> modelsByNode;
    private final Map<String, String> shortModelByProduct;

    /** An index of these maps, which are not copied and do not change any more. */
    GpuModelIndex(
            Map<String, NodeInfo> nodes,
            Map<String, List<GpuModel>> modelsByNode,
            Map<String, String> shortModelByProduct) {
        this.nodes = nodes;
        this.modelsByNode = modelsByNode;
        this.shortModelByProduct = shortModelByProduct;
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

    Map<String, NodeInfo> nodes() {
        return nodes;
    }

    Map<String, List<GpuModel>> modelsByNode() {
        return modelsByNode;
    }

    Map<String, String> shortModelByProduct() {
        return shortModelByProduct;
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
