package io.gpufleet.allocation.model.holding;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What an interval is attributed to beside its holder.
 *
 * @param product product of the GPU as its label has it, {@code NVIDIA-A100-SXM4-80GB}; empty while unknown
 * @param owner kind and name of the pod's controlling owner; empty where it has none or it is unknown
 * @param labels labels of the pod that usage carries
 */
public record UsageAttributes(String product, String owner, SortedMap<String, String> labels) {
    /** Nothing known. */
    public static final UsageAttributes NONE = new UsageAttributes("", "", Collections.emptySortedMap());

    /** Copies. */
    public UsageAttributes {
        labels = Collections.unmodifiableSortedMap(new TreeMap<>(labels));
    }

    /** With the labels that a record has, bounded. */
    public static UsageAttributes of(String product, String owner, Map<String, String> labels) {
        return new UsageAttributes(product, owner, PodLabels.bounded(labels));
    }
}
