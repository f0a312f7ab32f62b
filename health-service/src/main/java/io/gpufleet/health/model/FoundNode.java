package io.gpufleet.health.model;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A Node object as far as marks are concerned.
 *
 * @param facts what the object says of itself
 * @param resourceVersion what a patch must still find
 * @param taints all of them, in order
 * @param label value of {@code gpufleet.io/health}; empty when absent
 * @param nextStep value of {@code gpufleet.io/next-step}; empty when absent
 * @param note what we wrote down about our marks; {@link MarksNote#NONE} when absent or unreadable
 * @param condition the condition {@code GpuUnhealthy}; null when absent
 */
public record FoundNode(
        String name,
        Facts facts,
        String resourceVersion,
        List<Taint> taints,
        String label,
        String nextStep,
        MarksNote note,
        @Nullable Condition condition) {
    /** Copies the taints. */
    public FoundNode {
        taints = List.copyOf(taints);
    }

    /**
     * What the object says of itself.
     *
     * @param bootId as the kubelet told; empty when it did not
     * @param managed false where an operator opted the node out ({@code gpufleet.io/managed=false})
     */
    public record Facts(String uid, String bootId, boolean ready, boolean unschedulable, boolean managed) {}

    /** UID of the object. */
    public String uid() {
        return facts.uid();
    }

    /**
     * A taint; identified by key and effect.
     *
     * @param timeAdded as Kubernetes wrote it; empty when absent
     */
    public record Taint(String key, String value, String effect, String timeAdded) {
        /** Key of our taint. */
        public static final String KEY = "gpufleet.io/unhealthy";
        /** Effect of our taint. */
        public static final String EFFECT = "NoSchedule";

        /** Our taint with a reason. */
        public static Taint ours(String reason) {
            return new Taint(KEY, reason, EFFECT, "");
        }

        /** True when it has the identity of our taint, whoever set it. */
        public boolean isLikeOurs() {
            return key.equals(KEY) && effect.equals(EFFECT);
        }
    }

    /**
     * A condition.
     *
     * @param status {@code True}, {@code False} or {@code Unknown}
     */
    public record Condition(String status, String reason, String message) {}

    /** The taint that has our identity, whoever set it. */
    public Optional<Taint> taintLikeOurs() {
        return taints.stream().filter(Taint::isLikeOurs).findFirst();
    }
}
