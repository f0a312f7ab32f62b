package io.gpufleet.allocation.model.quota;

import java.util.Map;

/**
 * A Node object as far as placement needs it.
 *
 * @param gpus whether it has GPUs by its capacity or by its labels
 */
public record NodeFacts(String name, Map<String, String> labels, boolean gpus) {
    /** Copies. */
    public NodeFacts {
        labels = Map.copyOf(labels);
    }
}
