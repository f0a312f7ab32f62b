package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.ContainerResources;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.Interner;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints.NodeSelectorTerm;
import java.util.List;
import java.util.Map;

/**
 * Keeps one of equal parts of counted pods: the pods of one controller differ by name and UID only, and most of what is
 * known of 20,000 pods was the same text again.
 */
final class SharedParts {
    private final Interner<String> texts = new Interner<>();
    private final Interner<Map<String, String>> selectors = new Interner<>();
    private final Interner<List<NodeSelectorTerm>> terms = new Interner<>();
    private final Interner<List<ContainerResources>> containers = new Interner<>();
    private final Interner<GpuDemand> demands = new Interner<>();
    private final Interner<Map<LimitKey, GpuAmount>> limits = new Interner<>();

    /** The same pod, of which all but name and UID may be part of others, too. */
    GpuPod of(GpuPod pod) {
        SchedulingConstraints constraints = pod.constraints();
        return new GpuPod(
                texts.intern(pod.namespace()),
                pod.name(),
                texts.intern(pod.generateName()),
                pod.uid(),
                pod.uidKnown(),
                pod.countsUntil(),
                new SchedulingConstraints(
                        selectors.intern(constraints.nodeSelector()),
                        terms.intern(constraints.terms()),
                        texts.intern(constraints.nodeName())),
                containers.intern(pod.containers()));
    }

    GpuDemand of(GpuDemand demand) {
        return demands.intern(demand);
    }

    Map<LimitKey, GpuAmount> of(Map<LimitKey, GpuAmount> counted) {
        return limits.intern(counted);
    }
}
