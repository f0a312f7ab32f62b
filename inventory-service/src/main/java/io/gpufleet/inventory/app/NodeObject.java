package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.taint.NodeTaints;
import java.util.Map;
import java.util.Set;

/**
 * The fields of a Kubernetes Node object that this service reads.
 *
 * @param name node name
 * @param uid UID of the object
 * @param bootId {@code status.nodeInfo.bootID}, empty until the kubelet reported it
 * @param ready condition Ready
 * @param unschedulable {@code spec.unschedulable}
 * @param labels all labels
 * @param owned what this service has applied
 * @param taints taints, and which of them this service has added
 */
public record NodeObject(
        String name,
        String uid,
        String bootId,
        boolean ready,
        boolean unschedulable,
        Map<String, String> labels,
        Owned owned,
        NodeTaints taints) {
    /** Label that an administrator sets to {@code false} to exclude a Node from gpufleet. */
    public static final String MANAGED_LABEL = "gpufleet.io/managed";

    /**
     * Fields that this service owns by server-side apply.
     *
     * @param labels keys of labels
     * @param annotations annotations with their values
     */
    public record Owned(Set<String> labels, Map<String, String> annotations) {
        /** Nothing. */
        public static final Owned NONE = new Owned(Set.of(), Map.of());

        /** Copies the collections. */
        public Owned {
            labels = Set.copyOf(labels);
            annotations = Map.copyOf(annotations);
        }
    }

    /** Copies the map. */
    public NodeObject {
        labels = Map.copyOf(labels);
    }

    /** Whether gpufleet may write to the Node. */
    public boolean managed() {
        return !labels.getOrDefault(MANAGED_LABEL, "true").equals("false");
    }

    /** Whether the Node has the desired labels and this service owns exactly those. */
    public boolean hasExactly(LabelSet desired) {
        return owned.labels().equals(desired.labels().keySet())
                && desired.labels().entrySet().stream()
                        .allMatch(label -> label.getValue().equals(labels.get(label.getKey())))
                && owned.annotations().equals(desired.annotations());
    }
}
