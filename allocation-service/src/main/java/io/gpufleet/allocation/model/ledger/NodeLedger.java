package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The ledger of one node. Equal facts give equal states. {@link LedgerReducer} makes the next state.
 *
 * @param bootId boot id of the newest fact; empty before the first fact
 * @param open intervals that have not ended; one slot has one holder
 * @param pending answered Allocate calls whose holder is not known yet, oldest first
 * @param untrusted append time by UUID of the device since which it is not trusted; that of the whole node by {@link
 *     LedgerFact.TrustChanged#EVERY_DEVICE}
 * @param goneSince set while the Node object is deleted: append time of its deletion, or of the newest event of the
 *     daemon after it
 */
public record NodeLedger(
        String bootId,
        Map<DeviceSlot, OpenUsageInterval> open,
        List<PendingAllocate> pending,
        Map<String, Instant> untrusted,
        NodeClock clock,
        ClosedUsage closed,
        AnnouncedGpus gpus,
        @Nullable Instant goneSince) {
    /** How long the ledger of a node is kept after the node is gone. */
    public static final Duration FORGET_AFTER = Duration.ofDays(30);

    /** A node without facts. */
    public static final NodeLedger EMPTY = new NodeLedger(
            "", Map.of(), List.of(), Map.of(), NodeClock.UNKNOWN, ClosedUsage.NONE, AnnouncedGpus.NONE, null);

    /** Copies, and sorts what has no order of its own, so that equal states are written as equal bytes. */
    public NodeLedger {
        open = Collections.unmodifiableMap(new TreeMap<>(open));
        pending = List.copyOf(pending);
        untrusted = Collections.unmodifiableMap(new TreeMap<>(untrusted));
    }

    /** Product, owner and labels of what is held, as far as they are known. */
    public UsageAttributes attributesOf(Holding holding) {
        String product = gpus.productOf(holding.device());
        return closed.knownPods().stream()
                .filter(pod -> pod.matches(holding.holder()))
                .reduce((_, newest) -> newest)
                .map(pod -> new UsageAttributes(product, pod.owner(), pod.labels()))
                .orElse(UsageAttributes.of(product, "", Map.of()));
    }

    /** True when owner and labels of the pod are known. */
    public boolean knowsPod(String podUid) {
        return closed.knownPods().stream().anyMatch(pod -> pod.podUid().equals(podUid));
    }

    /** True while a device has a holder for which the daemon vouches. */
    public boolean vouched() {
        return open.values().stream().anyMatch(interval -> interval.quality() != IntervalQuality.UNREACHABLE);
    }

    /** When the ledger may be forgotten: {@link #FORGET_AFTER} after its Node object was deleted and its daemon heard last. */
    public Optional<Instant> forgettableAt() {
        return Optional.ofNullable(goneSince).map(since -> since.plus(FORGET_AFTER));
    }
}
