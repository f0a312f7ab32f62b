package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.LabelSet;
import java.util.Set;

/** Writes labels to a Node by server-side apply; blocks. */
public interface LabelWriter {
    /** Claims exactly this set on the Node of that UID; what we claimed before and no longer do goes away. */
    Outcome apply(String node, String uid, LabelSet labels);

    /** What became of it. */
    sealed interface Outcome {
        /** It stands; what the Node looks like now. */
        record Applied(NodeObject now) implements Outcome {}

        /** Nothing was written: other field managers own these labels with other values. */
        record Owned(Set<String> keys) implements Outcome {
            /** Copies the set. */
            public Owned {
                keys = Set.copyOf(keys);
            }
        }

        /** Nothing was written and it may work later; one line for people. */
        record Failed(String reason) implements Outcome {}
    }
}
