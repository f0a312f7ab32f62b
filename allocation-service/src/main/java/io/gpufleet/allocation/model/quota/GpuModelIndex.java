package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * GPU models that a pod may run on: Node objects joined with the models that node daemons announced. Keeps the number of
 * nodes of each model for every set of constraints that was asked for, so that a change of one node visits no other node.
 */
final class GpuModelIndex {
    private static final String PRODUCT_LABEL = "nvidia.com/gpu.product";
    private static final String TYPE_LABEL = "gpu-type";

    private final Map<String, NodeInfo> nodes = new HashMap<>();
    private final Map<String, List<GpuModel>> announced = new HashMap<>();
    private final Map<String, String> shortModelByProduct = new HashMap<>();
    private final Map<SchedulingConstraints, Map<String, Integer>> nodesByModel = new HashMap<>();
    private final Set<SchedulingConstraints> changedConstraints = new HashSet<>();
    private final Set<String> changedNodes = new HashSet<>();

    /** Short models of the nodes that the pod may run on; {@link QuotaLimit#UNKNOWN} for a node without known model. */
    Set<String> modelsFor(SchedulingConstraints constraints) {
        Set<String> models = constraints.nodeName().isEmpty()
                ? nodesByModel.computeIfAbsent(constraints, this::countNodes).keySet()
                : modelsOfNode(constraints.nodeName());
        return models.isEmpty()
                ? Set.of(byProduct(constraints.nodeSelector().getOrDefault(PRODUCT_LABEL, ""))
                        .orElse(QuotaLimit.UNKNOWN))
                : Set.copyOf(models);
    }

    /** Forgets constraints that no counted pod has. */
    void forget(SchedulingConstraints constraints) {
        nodesByModel.remove(constraints);
    }

    /** Number of constraints whose nodes are counted. */
    int constraints() {
        return nodesByModel.size();
    }

    /** Constraints whose models changed since the last call. */
    Set<SchedulingConstraints> drainChangedConstraints() {
        Set<SchedulingConstraints> changed = Set.copyOf(changedConstraints);
        changedConstraints.clear();
        return changed;
    }

    /** Nodes whose models changed since the last call. */
    Set<String> drainChangedNodes() {
        Set<String> changed = Set.copyOf(changedNodes);
        changedNodes.clear();
        return changed;
    }

    /** True when a node has or had a GPU of the model, in any case. */
    boolean knows(String model) {
        return shortModelByProduct.values().stream().anyMatch(known -> known.equalsIgnoreCase(model))
                || announced.values().stream()
                        .flatMap(List::stream)
                        .anyMatch(known -> known.shortModel().equalsIgnoreCase(model))
                || nodes.values().stream()
                        .anyMatch(node -> model.equalsIgnoreCase(node.labels().getOrDefault(TYPE_LABEL, "")));
    }

    private Map<String, Integer> countNodes(SchedulingConstraints constraints) {
        Map<String, Integer> counts = new TreeMap<>();
        for (NodeInfo node : nodes.values()) {
            if (constraints.allows(node)) {
                modelsOf(node).forEach(model -> counts.merge(model, 1, Integer::sum));
            }
        }
        return counts;
    }

    private Set<String> modelsOfNode(String name) {
        return modelsOf(nodes.getOrDefault(name, new NodeInfo(name, Map.of(), true)));
    }

    private Set<String> modelsOf(NodeInfo node) {
        List<GpuModel> known = announced.getOrDefault(node.name(), List.of());
        if (!known.isEmpty()) {
            var models = new TreeSet<String>();
            known.forEach(model -> models.add(model.shortModel()));
            return models;
        }
        return node.hasGpus() ? Set.of(byLabels(node.labels())) : Set.of();
    }

    private String byLabels(Map<String, String> labels) {
        return byProduct(labels.getOrDefault(PRODUCT_LABEL, ""))
                .or(() -> Optional.of(labels.getOrDefault(TYPE_LABEL, ""))
                        .filter(type -> !type.isEmpty())
                        .map(this::byType))
                .orElse(QuotaLimit.UNKNOWN);
    }

    /** The label is in lower case; the announced name, where there is one, is not. */
    private String byType(String type) {
        return shortModelByProduct.values().stream()
                .filter(known -> known.equalsIgnoreCase(type))
                .findFirst()
                .orElseGet(() -> type.toUpperCase(Locale.ROOT));
    }

    // A label may continue after the product (-SHARED, -MIG-1g.5gb), and one product may be the start of another.
    private Optional<String> byProduct(String label) {
        if (label.isEmpty()) {
            return Optional.empty();
        }
        return shortModelByProduct.keySet().stream()
                .filter(product -> label.equals(product) || label.startsWith(product + "-"))
                .max(Comparator.comparingInt(String::length))
                .map(shortModelByProduct::get);
    }

    /** A Node object was observed. */
    void nodeObserved(NodeInfo node) {
        if (!node.equals(nodes.get(node.name()))) {
            change(node.name(), () -> nodes.put(node.name(), node));
        }
    }

    /** A Node object was deleted. */
    void nodeDeleted(String name) {
        change(name, () -> nodes.remove(name));
    }

    /** The daemon of a node announced its models; none when the node is not known any more. */
    void modelsAnnounced(String node, List<GpuModel> models) {
        if (models.equals(announced.getOrDefault(node, List.of()))) {
            return;
        }
        change(node, () -> {
            if (models.isEmpty()) {
                announced.remove(node);
            } else {
                announced.put(node, List.copyOf(models));
            }
        });
        boolean newProduct = false;
        for (GpuModel model : models) {
            newProduct |= !model.shortModel()
                    .equals(shortModelByProduct.put(model.model().replace(' ', '-'), model.shortModel()));
        }
        if (newProduct) {
            // Nodes without a daemon are known by the product of another node; a product is new once.
            nodesByModel.replaceAll((constraints, _) -> countNodes(constraints));
            changedConstraints.addAll(nodesByModel.keySet());
            changedNodes.addAll(nodes.keySet());
        }
    }

    private void change(String name, Runnable change) {
        NodeInfo nodeBefore = nodes.get(name);
        Set<String> before = modelsOfNode(name);
        change.run();
        NodeInfo nodeAfter = nodes.get(name);
        Set<String> after = modelsOfNode(name);
        if (!before.equals(after)) {
            changedNodes.add(name);
        }
        nodesByModel.forEach((constraints, counts) -> {
            Set<String> counted = allowed(constraints, nodeBefore) ? before : Set.of();
            Set<String> next = allowed(constraints, nodeAfter) ? after : Set.of();
            if (!counted.equals(next)) {
                Set<String> models = Set.copyOf(counts.keySet());
                counted.forEach(model -> counts.computeIfPresent(model, (_, n) -> n == 1 ? null : n - 1));
                next.forEach(model -> counts.merge(model, 1, Integer::sum));
                if (!models.equals(counts.keySet())) {
                    changedConstraints.add(constraints);
                }
            }
        });
    }

    private static boolean allowed(SchedulingConstraints constraints, @Nullable NodeInfo node) {
        return node != null && constraints.allows(node);
    }
}
