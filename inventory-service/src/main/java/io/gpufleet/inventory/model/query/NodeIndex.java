package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.ImmutableTreeMap;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.label.LabelValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Names of the announced nodes that have a property, by property; immutable. A query for a rare value reads as many nodes
 * as have it, not the whole fleet.
 *
 * @param nodesByTerm sorted names by property and value
 */
public record NodeIndex(ImmutableTreeMap<ImmutableTreeMap<Boolean>> nodesByTerm) {
    /** Of no nodes. */
    public static final NodeIndex EMPTY = new NodeIndex(ImmutableTreeMap.empty());

    private static final int MAX_PRODUCTS = 1_000;
    /** Terms of the products that were met. */
    private static final Map<Gpu.Product, List<String>> MODEL_TERMS = new ConcurrentHashMap<>();

    /** Property by which nodes are found. */
    enum Property {
        /** Product name, its label value and the short name of a GPU. */
        MODEL,
        /** Health of a GPU. */
        HEALTH,
        /** Presence of the node. */
        PRESENCE,
        /** Namespace of a holder. */
        NAMESPACE;

        String term(String value) {
            return name() + '=' + value.toLowerCase(Locale.ROOT);
        }
    }

    /** The index of nodes that are sorted by name. */
    static NodeIndex of(List<NodeState> nodes) {
        var namesByTerm = new TreeMap<String, List<String>>();
        for (NodeState node : nodes) {
            for (String term : terms(node)) {
                namesByTerm.computeIfAbsent(term, _ -> new ArrayList<>()).add(node.name());
            }
        }
        List<ImmutableTreeMap<Boolean>> nodesByTerm = namesByTerm.values().stream()
                .map(names -> ImmutableTreeMap.ofSorted(names, Collections.nCopies(names.size(), true)))
                .toList();
        return new NodeIndex(ImmutableTreeMap.ofSorted(List.copyOf(namesByTerm.keySet()), nodesByTerm));
    }

    /** The names of the nodes with a value, or empty if there are none. */
    Optional<ImmutableTreeMap<Boolean>> nodes(Property property, String value) {
        return nodesByTerm.get(property.term(value));
    }

    /** The index after a change of a node; both states are those of one name. */
    public NodeIndex changed(NodeState before, NodeState after) {
        if (haveSameTerms(before, after)) {
            return this;
        }
        Set<String> gone = terms(before);
        Set<String> added = terms(after);
        ImmutableTreeMap<ImmutableTreeMap<Boolean>> next = nodesByTerm;
        for (String term : gone) {
            if (!added.contains(term)) {
                ImmutableTreeMap<Boolean> names =
                        next.get(term).orElse(ImmutableTreeMap.empty()).without(before.name());
                next = names.size() == 0 ? next.without(term) : next.with(term, names);
            }
        }
        for (String term : added) {
            if (!gone.contains(term)) {
                next = next.with(
                        term, next.get(term).orElse(ImmutableTreeMap.empty()).with(after.name(), true));
            }
        }
        return next == nodesByTerm ? this : new NodeIndex(next);
    }

    /** Compares the parts that most events leave unchanged; parts that are not the same object may have other terms. */
    private static boolean haveSameTerms(NodeState before, NodeState after) {
        return before.announcement() == after.announcement()
                && before.verdicts() == after.verdicts()
                && before.presence() == after.presence()
                && before.holders() == after.holders();
    }

    private static Set<String> terms(NodeState node) {
        if (node.announcement() == null) {
            return Set.of();
        }
        var terms = new TreeSet<String>();
        // The GPUs of a node are of one product and one health almost always.
        var products = new HashSet<Gpu.Product>();
        var health = new HashSet<String>();
        for (Gpu gpu : node.gpus()) {
            if (products.add(gpu.product())) {
                terms.addAll(modelTerms(gpu));
            }
            health.add(node.healthOf(gpu));
        }
        health.forEach(it -> terms.add(Property.HEALTH.term(it)));
        node.livePresence().ifPresent(presence -> terms.add(Property.PRESENCE.term(presence.stateName())));
        node.holders().stream().map(Holder::namespace).forEach(it -> terms.add(Property.NAMESPACE.term(it)));
        return terms;
    }

    private static List<String> modelTerms(Gpu gpu) {
        List<String> known = MODEL_TERMS.get(gpu.product());
        if (known != null) {
            return known;
        }
        List<String> terms = names(gpu).stream().map(Property.MODEL::term).toList();
        if (MODEL_TERMS.size() < MAX_PRODUCTS) {
            MODEL_TERMS.put(gpu.product(), terms);
        }
        return terms;
    }

    /** Names of a GPU that a model filter matches. */
    static List<String> names(Gpu gpu) {
        return Stream.of(gpu.model(), gpu.product().shortModel(), LabelValue.sanitised(gpu.model()))
                .filter(name -> !name.isEmpty())
                .distinct()
                .toList();
    }
}
