package io.gpufleet.allocation.model.holding;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Attributes of an interval beside its holder.
 *
 * @param product product of the GPU as its label has it, {@code NVIDIA-A100-SXM4-80GB}; empty while unknown
 * @param owner kind and name of the pod's controlling owner; empty where it has none or it is unknown
 * @param labels labels of the pod that usage carries
 * @param reducesIdle true when the idle time of the GPU is less by the interval; false in records of earlier releases
 */
public record UsageAttributes(String product, String owner, SortedMap<String, String> labels, boolean reducesIdle) {
    /** Nothing known. */
    public static final UsageAttributes NONE = new UsageAttributes("", "", Collections.emptySortedMap(), false);

    /** Copies. */
    public UsageAttributes {
        labels = labels.isEmpty()
                ? Collections.emptySortedMap()
                : Collections.unmodifiableSortedMap(new TreeMap<>(labels));
    }

    /** Of an interval that is no part of any device time. */
    public UsageAttributes(String product, String owner, SortedMap<String, String> labels) {
        this(product, owner, labels, false);
    }

    /** The same of an interval by which the idle time of its GPU is less, or not. */
    public UsageAttributes withReducesIdle(boolean reduces) {
        return new UsageAttributes(product, owner, labels, reduces);
    }

    /** With the labels that a record has, bounded. */
    public static UsageAttributes of(String product, String owner, Map<String, String> labels) {
        return new UsageAttributes(product, owner, PodLabels.bounded(labels));
    }
}
