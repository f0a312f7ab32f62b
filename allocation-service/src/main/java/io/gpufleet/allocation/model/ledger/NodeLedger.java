package io.gpufleet.allocation.model.ledger;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The ledger of one node. Equal facts give equal states; what a late fact may still need is part of it.
 *
 * @param bootId boot id last heard; empty before the first fact
 * @param open intervals that have not ended; one slot has one holder
 * @param pending answered Allocates, oldest first
 * @param lastSnapshot time of the newest snapshot by the node's clock; the epoch before the first
 * @param untrusted devices that are not trusted, since an append time
 * @param closed intervals closed lately, oldest first
 * @param ended pods whose end is known and which may still be listed
 * @param models GPU models of the node
 * @param migParents UUID of the physical GPU by UUID of the MIG device
 * @param clockAheadMillis how far the node's clock was ahead of the log's
 */
public record NodeLedger(
        String bootId,
        Map<DeviceSlot, OpenInterval> open,
        List<Pending> pending,
        Instant lastSnapshot,
        Map<String, Instant> untrusted,
        List<ClosedInterval> closed,
        List<EndedPod> ended,
        List<GpuModel> models,
        Map<String, String> migParents,
        long clockAheadMillis) {
    /** A node that nothing is known of. */
    public static final NodeLedger EMPTY = new NodeLedger(
            "", Map.of(), List.of(), Instant.EPOCH, Map.of(), List.of(), List.of(), List.of(), Map.of(), 0);

    /** Copies, and sorts what has no order of its own, so that equal states are written as equal bytes. */
    public NodeLedger {
        open = java.util.Collections.unmodifiableMap(new TreeMap<>(open));
        pending = List.copyOf(pending);
        untrusted = java.util.Collections.unmodifiableMap(new TreeMap<>(untrusted));
        closed = List.copyOf(closed);
        ended = ended.stream()
                .sorted(Comparator.comparing(EndedPod::namespace)
                        .thenComparing(EndedPod::pod)
                        .thenComparing(EndedPod::podUid))
                .toList();
        models = List.copyOf(models);
        migParents = java.util.Collections.unmodifiableMap(new TreeMap<>(migParents));
    }

    /** Folds one fact; the state and what is published belong together. */
    public LedgerStep fold(String cluster, String node, LedgerFact fact) {
        return new LedgerSheet(cluster, node, this).fold(fact);
    }
}
