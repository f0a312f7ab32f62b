package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Consumer;

/** UIDs of counted pods by namespace, by node, and by constraints where a pod is not bound. */
final class PodIndex {
    /** Constraints of denied or finished pods that are kept: the next pod of the same controller asks for them again. */
    private static final int MAX_IDLE = 1_000;

    private final Map<String, GpuPod> pods = new HashMap<>();
    private final Map<String, Set<String>> byNamespace = new HashMap<>();
    private final Map<String, Set<String>> byNode = new HashMap<>();
    private final Map<SchedulingConstraints, Set<String>> byConstraints = new HashMap<>();
    private final SequencedSet<SchedulingConstraints> idle = new LinkedHashSet<>();
    private final Consumer<SchedulingConstraints> onForgotten;

    /** {@code onForgotten} receives constraints that no pod has and that were not asked for lately. */
    PodIndex(Consumer<SchedulingConstraints> onForgotten) {
        this.onForgotten = onForgotten;
    }

    List<String> ofNamespace(String namespace) {
        return List.copyOf(byNamespace.getOrDefault(namespace, Set.of()));
    }

    List<String> ofNode(String node) {
        return List.copyOf(byNode.getOrDefault(node, Set.of()));
    }

    List<String> ofConstraints(SchedulingConstraints constraints) {
        return List.copyOf(byConstraints.getOrDefault(constraints, Set.of()));
    }

    void put(GpuPod pod) {
        GpuPod before = pods.get(pod.uid());
        if (before != null
                && before.constraints().equals(pod.constraints())
                && before.namespace().equals(pod.namespace())) {
            // The former one would be kept beside it.
            pods.put(pod.uid(), pod);
            return;
        }
        remove(pod.uid());
        pods.put(pod.uid(), pod);
        add(byNamespace, pod.namespace(), pod.uid());
        if (pod.constraints().nodeName().isEmpty()) {
            idle.remove(pod.constraints());
            add(byConstraints, pod.constraints(), pod.uid());
        } else {
            add(byNode, pod.constraints().nodeName(), pod.uid());
        }
    }

    void remove(String uid) {
        GpuPod pod = pods.remove(uid);
        if (pod == null) {
            return;
        }
        remove(byNamespace, pod.namespace(), uid);
        if (pod.constraints().nodeName().isEmpty()) {
            remove(byConstraints, pod.constraints(), uid);
            asked(pod.constraints());
        } else {
            remove(byNode, pod.constraints().nodeName(), uid);
        }
    }

    /** Constraints were asked for; the oldest that no pod has are forgotten. */
    void asked(SchedulingConstraints constraints) {
        if (byConstraints.containsKey(constraints) || !constraints.nodeName().isEmpty()) {
            return;
        }
        idle.addLast(constraints);
        if (idle.size() > MAX_IDLE) {
            onForgotten.accept(idle.removeFirst());
        }
    }

    private static <K> void add(Map<K, Set<String>> index, K key, String uid) {
        index.computeIfAbsent(key, _ -> new LinkedHashSet<>()).add(uid);
    }

    private static <K> void remove(Map<K, Set<String>> index, K key, String uid) {
        index.computeIfPresent(key, (_, uids) -> {
            uids.remove(uid);
            return uids.isEmpty() ? null : uids;
        });
    }
}
