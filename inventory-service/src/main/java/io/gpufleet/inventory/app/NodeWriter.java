package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.taint.TaintPlan;
import java.util.Set;

/** Writes to Nodes; blocks. */
public interface NodeWriter {
    /** Applies exactly this set to the Node of that UID; labels applied before and not in the set are removed. */
    ApplyResult apply(String node, String uid, LabelSet labels);

    /** Changes the taints of an observed Node, unless those that the plan relies on have changed since. */
    PatchResult patchTaints(NodeObject observed, TaintPlan plan);

    /** Records a Kubernetes Event about the Node; one that cannot be written is dropped. */
    void recordEvent(NodeObject node, KubernetesNodeEvent event);

    /** Result of a patch of taints. */
    sealed interface PatchResult {
        /** The taints are changed; the Node afterwards. */
        record Patched(NodeObject node) implements PatchResult {}

        /** Nothing was changed and a retry may succeed; the reason is one line. */
        record Failed(String reason) implements PatchResult {}

        /** Nothing was sent: this replica may not act now. */
        record NotLeading() implements PatchResult {}
    }

    /** Result of an apply of labels. */
    sealed interface ApplyResult {
        /** The labels are applied; the Node afterwards. */
        record Applied(NodeObject node) implements ApplyResult {}

        /** Nothing was applied: other field managers own these keys with other values. */
        record Conflict(Set<String> keys) implements ApplyResult {
            /** Copies the set. */
            public Conflict {
                keys = Set.copyOf(keys);
            }
        }

        /** Nothing was applied and a retry may succeed; the reason is one line. */
        record Failed(String reason) implements ApplyResult {}

        /** Nothing was sent: this replica may not act now. */
        record NotLeading() implements ApplyResult {}
    }
}
