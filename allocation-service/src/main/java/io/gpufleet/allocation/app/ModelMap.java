package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.quota.NodeFacts;
import io.gpufleet.allocation.model.quota.Placement;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which GPU models a pod may land on: Node objects joined with what their daemons announced. */
final class ModelMap {
    private static final String PRODUCT = "nvidia.com/gpu.product";

    private final Map<String, NodeFacts> nodes = new HashMap<>();
    private final Map<String, List<GpuModel>> announced = new HashMap<>();
    private final Map<String, String> shortByProduct = new TreeMap<>();
    private long version;

    /** Counts up whenever an answer may have changed. */
    long version() {
        return version;
    }

    void node(NodeFacts facts) {
        if (!facts.equals(nodes.put(facts.name(), facts))) {
            version++;
        }
    }

    void nodeGone(String name) {
        if (nodes.remove(name) != null) {
            version++;
        }
    }

    void announced(String node, List<GpuModel> models) {
        if (!models.equals(announced.put(node, models))) {
            models.forEach(model -> shortByProduct.put(label(model.model()), model.shortModel()));
            version++;
        }
    }

    /** Short models of the nodes that the pod may run on; {@link QuotaLimit#UNKNOWN} where one is not known. */
    Set<String> modelsFor(Placement placement) {
        var models = new TreeSet<String>();
        if (!placement.nodeName().isEmpty()) {
            NodeFacts bound =
                    nodes.getOrDefault(placement.nodeName(), new NodeFacts(placement.nodeName(), Map.of(), true));
            models.addAll(modelsOf(bound));
        } else {
            nodes.values().stream()
                    .filter(placement::allows)
                    .map(this::modelsOf)
                    .forEach(models::addAll);
        }
        if (models.isEmpty()) {
            models.add(byProduct(placement.nodeSelector().getOrDefault(PRODUCT, ""))
                    .orElse(QuotaLimit.UNKNOWN));
        }
        return Set.copyOf(models);
    }

    private Set<String> modelsOf(NodeFacts node) {
        List<GpuModel> known = announced.getOrDefault(node.name(), List.of());
        if (!known.isEmpty()) {
            var models = new TreeSet<String>();
            known.forEach(model -> models.add(model.shortModel()));
            return models;
        }
        return node.gpus()
                ? Set.of(byProduct(node.labels().getOrDefault(PRODUCT, "")).orElse(QuotaLimit.UNKNOWN))
                : Set.of();
    }

    // A label may go on after the product: -SHARED, -MIG-1g.5gb. The longest product that fits is meant.
    private Optional<String> byProduct(String label) {
        return shortByProduct.keySet().stream()
                .filter(product -> label.equals(product) || label.startsWith(product + "-"))
                .max(Comparator.comparingInt(String::length))
                .map(shortByProduct::get);
    }

    private static String label(String model) {
        return model.replace(' ', '-');
    }
}
