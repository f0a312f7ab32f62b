package io.gpufleet.allocation.model.holding;

import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Labels of a pod that its usage carries: few and short, so that no pod makes records large. */
public final class PodLabels {
    /** Labels of one pod at most. */
    public static final int MAX_LABELS = 8;

    /** Characters of a key at most: a prefix of 253, a slash and a name of 63. */
    public static final int MAX_KEY = 317;

    private static final int MAX_VALUE = 63;

    private PodLabels() {}

    /** Those of the keys that the labels have. */
    public static SortedMap<String, String> selected(Map<String, String> labels, Collection<String> keys) {
        SortedMap<String, String> selected = new TreeMap<>(labels);
        selected.keySet().retainAll(keys);
        return bounded(selected);
    }

    /** The first {@value #MAX_LABELS} labels by key; leaves out those that Kubernetes would refuse as too long. */
    public static SortedMap<String, String> bounded(Map<String, String> labels) {
        if (labels.isEmpty()) {
            return Collections.emptySortedMap();
        }
        SortedMap<String, String> bounded = new TreeMap<>();
        new TreeMap<>(labels).forEach((key, value) -> {
            if (bounded.size() < MAX_LABELS && key.length() <= MAX_KEY && value.length() <= MAX_VALUE) {
                bounded.put(key, value);
            }
        });
        return Collections.unmodifiableSortedMap(bounded);
    }
}
