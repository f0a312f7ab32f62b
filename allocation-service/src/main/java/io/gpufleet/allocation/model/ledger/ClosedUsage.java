package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.KnownPod;
import java.util.Comparator;
import java.util.List;

/**
 * Recent past of a node, which a late fact may still correct, and the pods that usage is attributed to.
 *
 * @param intervals intervals closed lately, oldest first
 * @param finishedPods pods whose end is known and which a kubelet may still list
 * @param knownPods pods whose owner and labels are known, oldest fact first
 */
public record ClosedUsage(
        List<ClosedUsageInterval> intervals, List<FinishedPod> finishedPods, List<KnownPod> knownPods) {
    /** A node without past. */
    public static final ClosedUsage NONE = new ClosedUsage(List.of(), List.of(), List.of());

    /** Copies; sorts the pods, which have no order of their own. */
    public ClosedUsage {
        intervals = List.copyOf(intervals);
        finishedPods = finishedPods.stream()
                .sorted(Comparator.comparing(FinishedPod::namespace)
                        .thenComparing(FinishedPod::pod)
                        .thenComparing(FinishedPod::podUid))
                .toList();
        knownPods = List.copyOf(knownPods);
    }
}
