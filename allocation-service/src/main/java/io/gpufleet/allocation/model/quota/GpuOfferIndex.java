package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Kinds of devices that a pod may get: Node objects joined with what node daemons announced. Keeps the number of nodes
 * that have each kind for every set of constraints that was asked for, so that a change of one node visits no other node.
 */
final class GpuOfferIndex {
    private static final int MAX_SHARED = 10_000;

    private final Map<String, NodeInfo> nodes = new HashMap<>();
    private final Map<String, AnnouncedGpus> announced = new HashMap<>();
    private final GpuLabels labels = new GpuLabels();
    private final Set<GpuOffer> seen = new HashSet<>();
    private final Map<SchedulingConstraints, Map<GpuOffer, Integer>> nodesByOffer = new HashMap<>();
    private final Set<SchedulingConstraints> changedConstraints = new HashSet<>();
    private final Set<String> changedNodes = new HashSet<>();
    /** One instance of each set: thousands of pods have the same. */
    private final Map<Set<GpuOffer>, Set<GpuOffer>> shared = new HashMap<>();

    /** Kinds of devices that a pod may get for a resource; never none. */
    Set<GpuOffer> offersFor(SchedulingConstraints constraints, String resource) {
        Set<GpuOffer> offers = constraints.nodeName().isEmpty()
                ? nodesByOffer.computeIfAbsent(constraints, this::countNodes).keySet()
                : offersOfNode(constraints.nodeName());
        Set<GpuOffer> known = offers.isEmpty() ? demanded(constraints) : offers;
        Set<GpuOffer> offered = known.stream()
                .filter(offer -> offer.resource().isEmpty() || offer.resource().equals(resource))
                .map(offer -> offer.resource().isEmpty() ? offer.as(resource) : offer)
                .collect(Collectors.toUnmodifiableSet());
        return share(
                offered.isEmpty()
                        ? known.stream().map(offer -> offer.as(resource)).collect(Collectors.toUnmodifiableSet())
                        : offered);
    }

    private Set<GpuOffer> share(Set<GpuOffer> offers) {
        if (shared.size() > MAX_SHARED) {
            shared.clear();
        }
        return shared.computeIfAbsent(offers, same -> same);
    }

    /** The GPUs of a pool without nodes, by the labels that its future nodes must have. */
    private Set<GpuOffer> demanded(SchedulingConstraints constraints) {
        Set<GpuOffer> offers = new HashSet<>();
        for (Map<String, Set<String>> demanded : constraints.demandedLabels()) {
            Set<GpuOffer> byLabels = GpuLabels.names().stream()
                    .map(key -> offers(key, demanded.getOrDefault(key, Set.of())))
                    .filter(found -> !found.isEmpty())
                    .min(Comparator.comparing(found ->
                            found.stream().anyMatch(offer -> offer.model().equals(GpuOffer.UNKNOWN))))
                    .orElse(Set.of(GpuOffer.unknown()));
            offers.addAll(byLabels);
        }
        return offers;
    }

    private Set<GpuOffer> offers(String key, Set<String> values) {
        return values.stream()
                .flatMap(value -> labels.offer(Map.of(key, value)).stream())
                .collect(Collectors.toSet());
    }

    /** Forgets constraints that no counted pod has. */
    void forget(SchedulingConstraints constraints) {
        nodesByOffer.remove(constraints);
    }

    /** Number of constraints whose nodes are counted. */
    int constraints() {
        return nodesByOffer.size();
    }

    /** Constraints whose kinds of devices changed since the last call. */
    Set<SchedulingConstraints> drainChangedConstraints() {
        Set<SchedulingConstraints> changed = Set.copyOf(changedConstraints);
        changedConstraints.clear();
        return changed;
    }

    /** Nodes whose kinds of devices changed since the last call. */
    Set<String> drainChangedNodes() {
        Set<String> changed = Set.copyOf(changedNodes);
        changedNodes.clear();
        return changed;
    }

    /** True when a node has or had a device that the selector surely selects. */
    boolean knows(GpuSelector selector) {
        return seen.stream().anyMatch(offer -> selector.matches(offer, false));
    }

    private Map<GpuOffer, Integer> countNodes(SchedulingConstraints constraints) {
        Map<GpuOffer, Integer> counts = new HashMap<>();
        for (NodeInfo node : nodes.values()) {
            if (constraints.allows(node)) {
                offersOf(node).forEach(offer -> counts.merge(offer, 1, Integer::sum));
            }
        }
        return counts;
    }

    private Set<GpuOffer> offersOfNode(String name) {
        return offersOf(nodes.getOrDefault(name, new NodeInfo(name, Map.of(), true)));
    }

    private Set<GpuOffer> offersOf(NodeInfo node) {
        AnnouncedGpus known = announced.getOrDefault(node.name(), AnnouncedGpus.NONE);
        if (known.models().isEmpty()) {
            return labels.offer(node.labels())
                    .or(() -> node.hasGpus() ? Optional.of(GpuOffer.unknown()) : Optional.empty())
                    .map(Set::of)
                    .orElse(Set.of());
        }
        Set<GpuOffer> offers = new HashSet<>();
        for (GpuModel model : known.models()) {
            String product = GpuLabels.product(model.model());
            known.offers().stream()
                    .filter(offer -> offer.shortModel().equals(model.shortModel()))
                    .map(offer -> new GpuOffer(
                            offer.resource(), offer.shortModel(), product, offer.migProfile(), offer.replicas()))
                    .forEach(offers::add);
            if (known.offers().isEmpty()) {
                offers.add(new GpuOffer("", model.shortModel(), product, "", 1));
            }
        }
        return offers;
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

    /** The daemon of a node announced its GPUs; none when the node is not known any more. */
    void gpusAnnounced(String node, AnnouncedGpus gpus) {
        if (gpus.equals(announced.getOrDefault(node, AnnouncedGpus.NONE))) {
            return;
        }
        change(node, () -> {
            if (gpus.models().isEmpty()) {
                announced.remove(node);
            } else {
                announced.put(node, gpus);
            }
        });
        boolean newProduct = false;
        for (GpuModel model : gpus.models()) {
            newProduct |= labels.announced(model);
        }
        if (newProduct) {
            // Nodes without a daemon are known by the product of another node; a product is new once.
            nodesByOffer.replaceAll((constraints, _) -> countNodes(constraints));
            changedConstraints.addAll(nodesByOffer.keySet());
            changedNodes.addAll(nodes.keySet());
        }
    }

    private void change(String name, Runnable change) {
        NodeInfo nodeBefore = nodes.get(name);
        Set<GpuOffer> before = offersOfNode(name);
        change.run();
        NodeInfo nodeAfter = nodes.get(name);
        Set<GpuOffer> after = offersOfNode(name);
        seen.addAll(after);
        if (!before.equals(after)) {
            changedNodes.add(name);
        }
        nodesByOffer.forEach((constraints, counts) -> {
            Set<GpuOffer> counted = allowed(constraints, nodeBefore) ? before : Set.of();
            Set<GpuOffer> next = allowed(constraints, nodeAfter) ? after : Set.of();
            if (!counted.equals(next)) {
                Set<GpuOffer> offers = Set.copyOf(counts.keySet());
                counted.forEach(offer -> counts.computeIfPresent(offer, (_, n) -> n == 1 ? null : n - 1));
                next.forEach(offer -> counts.merge(offer, 1, Integer::sum));
                if (!offers.equals(counts.keySet())) {
                    changedConstraints.add(constraints);
                }
            }
        });
    }

    private static boolean allowed(SchedulingConstraints constraints, @Nullable NodeInfo node) {
        return node != null && constraints.allows(node);
    }
}
