package io.gpufleet.allocation.model.scheduling;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Constraints on the nodes of a pod: its nodeSelector, the required terms of its node affinity (one of them must match,
 * if there are any), and the node it is bound to.
 *
 * @param nodeName node that the pod is bound to; empty before
 */
public record SchedulingConstraints(Map<String, String> nodeSelector, List<NodeSelectorTerm> terms, String nodeName) {
    /** No constraints. */
    public static final SchedulingConstraints NONE = new SchedulingConstraints(Map.of(), List.of(), "");

    /** One term: all requirements on labels and on fields must match. */
    public record NodeSelectorTerm(List<SelectorRequirement> labels, List<SelectorRequirement> fields) {
        /** Copies. */
        public NodeSelectorTerm {
            labels = List.copyOf(labels);
            fields = List.copyOf(fields);
        }

        private boolean matches(NodeInfo node) {
            // An empty term matches no node, as in Kubernetes.
            return !(labels.isEmpty() && fields.isEmpty())
                    && labels.stream().allMatch(one -> one.matches(node.labels()))
                    && fields.stream().allMatch(one -> one.matches(Map.of("metadata.name", node.name())));
        }
    }

    /** Copies. */
    public SchedulingConstraints {
        nodeSelector = Map.copyOf(nodeSelector);
        terms = List.copyOf(terms);
    }

    /** True when the pod may run on the node, by selectors alone. */
    public boolean allows(NodeInfo node) {
        if (!nodeName.isEmpty()) {
            return nodeName.equals(node.name());
        }
        return node.labels().entrySet().containsAll(nodeSelector.entrySet())
                && (terms.isEmpty() || terms.stream().anyMatch(term -> term.matches(node)));
    }

    /**
     * Values that labels of the nodes must have, one entry for each term of which one must match. What excludes values is
     * left out.
     */
    public List<Map<String, Set<String>>> demandedLabels() {
        List<NodeSelectorTerm> alternatives =
                terms.isEmpty() ? List.of(new NodeSelectorTerm(List.of(), List.of())) : terms;
        return alternatives.stream().map(this::demandedLabels).toList();
    }

    private Map<String, Set<String>> demandedLabels(NodeSelectorTerm term) {
        Map<String, Set<String>> demanded = new TreeMap<>();
        term.labels().stream()
                .filter(one -> one.operator() == SelectorRequirement.Operator.IN)
                .forEach(one -> demanded.put(one.key(), Set.copyOf(one.values())));
        nodeSelector.forEach((key, value) -> demanded.put(key, Set.of(value)));
        return demanded;
    }
}
