package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.LabelSet;
import java.util.Map;
import java.util.Set;

/**
 * What we need of a Node object as Kubernetes shows it.
 *
 * @param name node name
 * @param uid UID of the object
 * @param bootId {@code status.nodeInfo.bootID}, empty until the kubelet reported it
 * @param ready condition Ready
 * @param unschedulable {@code spec.unschedulable}
 * @param labels all labels
 * @param annotations those that we own
 * @param ownLabels keys of the labels that our field manager owns
 */
public record NodeObject(
        String name,
        String uid,
        String bootId,
        boolean ready,
        boolean unschedulable,
        Map<String, String> labels,
        Map<String, String> annotations,
        Set<String> ownLabels) {
    /** Set to {@code false} by an administrator, it keeps gpufleet's hands off a Node. */
    public static final String MANAGED = "gpufleet.io/managed";

    /** Copies the collections. */
    public NodeObject {
        labels = Map.copyOf(labels);
        annotations = Map.copyOf(annotations);
        ownLabels = Set.copyOf(ownLabels);
    }

    /** Whether gpufleet may write to it. */
    public boolean managed() {
        return !labels.getOrDefault(MANAGED, "true").equals("false");
    }

    /** Whether exactly the wanted labels stand there and are ours. */
    public boolean wears(LabelSet wanted) {
        return ownLabels.equals(wanted.labels().keySet())
                && wanted.labels().entrySet().stream()
                        .allMatch(label -> label.getValue().equals(labels.get(label.getKey())))
                && annotations.equals(wanted.annotations());
    }
}
