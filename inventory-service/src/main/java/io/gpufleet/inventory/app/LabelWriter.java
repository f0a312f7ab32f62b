package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
import java.util.Set;

/** Writes labels to a Node by server-side apply; blocks. */
public interface LabelWriter {
    /** Applies exactly this set to the Node of that UID; labels applied before and not in the set are removed. */
    ApplyResult apply(String node, String uid, LabelSet labels);

    /** Result of an apply. */
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
