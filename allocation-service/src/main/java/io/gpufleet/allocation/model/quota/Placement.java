package io.gpufleet.allocation.model.quota;

import java.util.List;
import java.util.Map;

/**
 * Where a pod may run: its nodeSelector, the required terms of its node affinity (one of them must be met, if there
 * are any), and the node it is bound to.
 *
 * @param nodeName node it is bound to, empty before
 */
public record Placement(Map<String, String> nodeSelector, List<Term> terms, String nodeName) {
    /** Anywhere. */
    public static final Placement ANYWHERE = new Placement(Map.of(), List.of(), "");

    /** One term: all of its requirements on labels and on fields. */
    public record Term(List<Requirement> labels, List<Requirement> fields) {
        /** Copies. */
        public Term {
            labels = List.copyOf(labels);
            fields = List.copyOf(fields);
        }

        private boolean met(NodeFacts node) {
            // A term that asks for nothing matches nothing, as in Kubernetes.
            return !(labels.isEmpty() && fields.isEmpty())
                    && labels.stream().allMatch(one -> one.metBy(node.labels()))
                    && fields.stream().allMatch(one -> one.metBy(Map.of("metadata.name", node.name())));
        }
    }

    /** Copies. */
    public Placement {
        nodeSelector = Map.copyOf(nodeSelector);
        terms = List.copyOf(terms);
    }

    /** True when the pod may run on the node, as far as selectors say. */
    public boolean allows(NodeFacts node) {
        if (!nodeName.isEmpty()) {
            return nodeName.equals(node.name());
        }
        return node.labels().entrySet().containsAll(nodeSelector.entrySet())
                && (terms.isEmpty() || terms.stream().anyMatch(term -> term.met(node)));
    }
}
