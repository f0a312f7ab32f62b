package io.gpufleet.health.model.nodepatch;

import io.gpufleet.health.model.NodeReference;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a Node object that concern us.
 *
 * @param facts identity and state of the Node
 * @param base what a patch relies on beside these fields
 * @param taints all of them, in order
 * @param label value of {@code gpufleet.io/health}; empty when absent
 * @param recommendedAction value of {@code gpufleet.io/recommended-action}; empty when absent
 * @param applied the fields that we applied; {@link AppliedAnnotation#NONE} when absent or unreadable
 * @param condition the condition {@code GpuUnhealthy}; null when absent
 */
public record ObservedNode(
        String name,
        NodeFacts facts,
        PatchBase base,
        List<Taint> taints,
        String label,
        String recommendedAction,
        AppliedAnnotation applied,
        @Nullable Condition condition) {
    /** Copies the taints. */
    public ObservedNode {
        taints = List.copyOf(taints);
    }

    /**
     * Identity and state of the Node.
     *
     * @param bootId as the kubelet reports it; empty when it does not
     * @param managed false when an operator opted the node out ({@code gpufleet.io/managed=false})
     * @param labels all of them
     * @param notReady true when the condition Ready is there and is not True
     */
    public record NodeFacts(
            String uid,
            String bootId,
            boolean ready,
            boolean unschedulable,
            boolean managed,
            Map<String, String> labels,
            boolean notReady) {
        /** Copies the labels. */
        public NodeFacts {
            labels = Map.copyOf(labels);
        }

        /** Facts of a Node without labels. */
        public NodeFacts(String uid, String bootId, boolean ready, boolean unschedulable, boolean managed) {
            this(uid, bootId, ready, unschedulable, managed, Map.of(), false);
        }

        /** The same facts with these labels only. */
        public NodeFacts withLabels(Set<String> keys) {
            Map<String, String> kept = labels.entrySet().stream()
                    .filter(label -> keys.contains(label.getKey()))
                    .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
            return new NodeFacts(uid, bootId, ready, unschedulable, managed, kept, notReady);
        }

        /** Labels that budgets need. */
        public NodeReference.Placement placement() {
            return new NodeReference.Placement(labels, ready && !unschedulable, true, !notReady);
        }
    }

    /** True when nothing differs that a patch of ours relies on. */
    public boolean sameFields(ObservedNode other) {
        return uid().equals(other.uid())
                && Objects.equals(base.applied(), other.base.applied())
                && taints.equals(other.taints)
                && facts.unschedulable() == other.facts.unschedulable()
                && base.cordonManager().equals(other.base.cordonManager())
                && label.equals(other.label)
                && recommendedAction.equals(other.recommendedAction);
    }

    /** UID of the object. */
    public String uid() {
        return facts.uid();
    }

    /**
     * A taint; identified by key and effect.
     *
     * @param timeAdded set by Kubernetes; empty when absent
     */
    public record Taint(String key, String value, String effect, String timeAdded) {
        /** Key of our taint. */
        public static final String KEY = "gpufleet.io/unhealthy";
        /** Effect of our taint. */
        public static final String EFFECT = "NoSchedule";

        /** Our taint with a reason. */
        public static Taint unhealthy(String reason) {
            return new Taint(KEY, reason, EFFECT, "");
        }

        /** True when key and effect are those of our taint, even if it is foreign. */
        public boolean isUnhealthyTaint() {
            return key.equals(KEY) && effect.equals(EFFECT);
        }
    }

    /**
     * A condition.
     *
     * @param status {@code True}, {@code False} or {@code Unknown}
     */
    public record Condition(String status, String reason, String message) {}

    /** True when the annotation lists our taint, and it is not there. */
    public boolean taintMissing() {
        return !applied.taint().isEmpty() && unhealthyTaint().isEmpty();
    }

    /** True when the annotation lists our cordon, and the Node is schedulable. */
    public boolean cordonMissing() {
        return applied.cordon() && !facts.unschedulable();
    }

    /** The taint with key and effect of ours, even if it is foreign. */
    public Optional<Taint> unhealthyTaint() {
        return taints.stream().filter(Taint::isUnhealthyTaint).findFirst();
    }
}
