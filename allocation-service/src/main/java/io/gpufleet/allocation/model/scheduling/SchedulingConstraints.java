package io.gpufleet.allocation.model.scheduling;

import java.util.List;
import java.util.Map;

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
}
