package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.ContainerResources;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints.NodeSelectorTerm;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps one of equal parts of counted pods: the pods of one controller differ by name and UID only, and most of what is
 * known of 20,000 pods was the same text again.
 */
final class SharedParts {
    /** Of each kind; beyond it those that are known are forgotten, and shared no longer. */
    private static final int MAX = 20_000;

    private final Map<String, String> texts = new HashMap<>();
    private final Map<Map<String, String>, Map<String, String>> selectors = new HashMap<>();
    private final Map<List<NodeSelectorTerm>, List<NodeSelectorTerm>> terms = new HashMap<>();
    private final Map<List<ContainerResources>, List<ContainerResources>> containers = new HashMap<>();
    private final Map<GpuDemand, GpuDemand> demands = new HashMap<>();
    private final Map<Map<LimitKey, GpuAmount>, Map<LimitKey, GpuAmount>> limits = new HashMap<>();

    /** The same pod, of which all but name and UID may be part of others, too. */
    GpuPod of(GpuPod pod) {
        SchedulingConstraints constraints = pod.constraints();
        return new GpuPod(
                shared(texts, pod.namespace()),
                pod.name(),
                shared(texts, pod.generateName()),
                pod.uid(),
                pod.uidKnown(),
                pod.countsUntil(),
                new SchedulingConstraints(
                        shared(selectors, constraints.nodeSelector()),
                        shared(terms, constraints.terms()),
                        shared(texts, constraints.nodeName())),
                shared(containers, pod.containers()));
    }

    GpuDemand of(GpuDemand demand) {
        return shared(demands, demand);
    }

    Map<LimitKey, GpuAmount> of(Map<LimitKey, GpuAmount> counted) {
        return shared(limits, counted);
    }

    private static <T> T shared(Map<T, T> known, T part) {
        if (known.size() >= MAX) {
            known.clear();
        }
        T same = known.putIfAbsent(part, part);
        return same == null ? part : same;
    }
}
