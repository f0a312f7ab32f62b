package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
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
 * @param annotations those that this service owns
 * @param ownedLabels keys of the labels that this service owns
 */
public record NodeObject(
        String name,
        String uid,
        String bootId,
        boolean ready,
        boolean unschedulable,
        Map<String, String> labels,
        Map<String, String> annotations,
        Set<String> ownedLabels) {
    /** Label that an administrator sets to {@code false} to exclude a Node from gpufleet. */
    public static final String MANAGED_LABEL = "gpufleet.io/managed";

    /** Copies the collections. */
    public NodeObject {
        labels = Map.copyOf(labels);
        annotations = Map.copyOf(annotations);
        ownedLabels = Set.copyOf(ownedLabels);
    }

    /** Whether gpufleet may write to the Node. */
    public boolean managed() {
        return !labels.getOrDefault(MANAGED_LABEL, "true").equals("false");
    }

    /** Whether the Node has the desired labels and this service owns exactly those. */
    public boolean hasExactly(LabelSet desired) {
        return ownedLabels.equals(desired.labels().keySet())
                && desired.labels().entrySet().stream()
                        .allMatch(label -> label.getValue().equals(labels.get(label.getKey())))
                && annotations.equals(desired.annotations());
    }
}
