package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.KnownPod;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** Working copy of the pods of a node whose owner and labels are known, while one fact is folded. */
final class MutableKnownPods {
    /** Of the node's state, where a record may have 1 MiB. */
    private static final int MAX_BYTES = 192 * 1_024;

    private final List<KnownPod> pods;

    MutableKnownPods(List<KnownPod> before) {
        this.pods = new ArrayList<>(before);
    }

    List<KnownPod> pods() {
        return pods;
    }

    /** Adds a pod, unless it is known; the oldest give way to it. */
    void add(KnownPod pod) {
        if (pods.stream().anyMatch(pod::isSamePod)) {
            return;
        }
        pods.add(pod);
        int bytes = pods.stream().mapToInt(KnownPod::bytes).sum();
        while (bytes > MAX_BYTES) {
            bytes -= pods.removeFirst().bytes();
        }
    }

    /**
     * Forgets pods that no interval of the state is of: those of long ago, and those that are over, which never hold anything
     * again.
     */
    void forget(Instant seenBefore, Predicate<KnownPod> over, Collection<Holder> needed) {
        if (pods.stream().noneMatch(pod -> pod.seenAt().isBefore(seenBefore) || over.test(pod))) {
            return;
        }
        Set<String> names = new HashSet<>();
        needed.forEach(holder -> names.add(holder.namespace() + "/" + holder.pod()));
        pods.removeIf(pod -> (pod.seenAt().isBefore(seenBefore) || over.test(pod))
                && !names.contains(pod.namespace() + "/" + pod.pod()));
    }
}
