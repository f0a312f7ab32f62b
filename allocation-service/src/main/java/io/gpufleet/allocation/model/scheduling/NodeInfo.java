package io.gpufleet.allocation.model.scheduling;

import java.util.Map;

/**
 * A Node object as far as scheduling constraints need it.
 *
 * @param hasGpus whether the node has GPUs by its capacity or by its labels
 */
public record NodeInfo(String name, Map<String, String> labels, boolean hasGpus) {
    /** Copies. */
    public NodeInfo {
        labels = Map.copyOf(labels);
    }
}
