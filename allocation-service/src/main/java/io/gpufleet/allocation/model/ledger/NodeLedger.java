package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.devicetime.NodeDevices;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
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
 * @param devices GPUs of the node over time
 * @param goneSince set while the Node object is deleted: append time of its deletion, or of the newest event of the
 *     daemon after it
 */
public record NodeLedger(
        String bootId,
        Map<DeviceSlot, OpenUsageInterval> open,
        List<PendingAllocate> pending,
        NodeDevices devices,
        NodeClock clock,
        ClosedUsage closed,
        AnnouncedGpus gpus,
        @Nullable Instant goneSince) {
    /** How long the ledger of a node is kept after the node is gone. */
    public static final Duration FORGET_AFTER = Duration.ofDays(30);

    /** A node without facts. */
    public static final NodeLedger EMPTY = new NodeLedger(
            "", Map.of(), List.of(), NodeDevices.NONE, NodeClock.UNKNOWN, ClosedUsage.NONE, AnnouncedGpus.NONE, null);

    /** Copies, and sorts what has no order of its own, so that equal states are written as equal bytes. */
    public NodeLedger {
        open = Collections.unmodifiableMap(new TreeMap<>(open));
        pending = List.copyOf(pending);
    }

    /** Product, owner and labels of what is held, as far as they are known. */
    public UsageAttributes attributesOf(Holding holding) {
        String product = productOf(holding);
        // The newest fact is the last; a loop, since a question about usage asks for each open interval of the fleet.
        for (int i = closed.knownPods().size() - 1; i >= 0; i--) {
            KnownPod pod = closed.knownPods().get(i);
            if (pod.matches(holding.holder())) {
                return new UsageAttributes(product, pod.owner(), pod.labels());
            }
        }
        return UsageAttributes.of(product, "", Map.of());
    }

    /** Product of the GPU that is held, as far as it is known. */
    String productOf(Holding holding) {
        return devices.identityOf(holding.device().slot().deviceUuid())
                .map(GpuIdentity::product)
                .orElseGet(() -> gpus.productOf(holding.device()));
    }

    /** True when owner and labels of the pod are known. */
    public boolean knowsPod(String podUid) {
        return closed.knownPods().stream().anyMatch(pod -> pod.podUid().equals(podUid));
    }

    /** Append time by UUID of the GPU since which it is not trusted; that of the whole node by {@link LedgerFact.TrustChanged#EVERY_DEVICE}. */
    public Map<String, Instant> untrusted() {
        return devices.untrusted();
    }

    /** True when the node is known to have the GPU within the entry's time: then its idle time is less by the entry. */
    public boolean reducesIdle(UsageEntry entry) {
        return devices.isKnownWithin(DeviceAccounting.held(this, entry));
    }

    /** Time of its GPUs that is not published yet, until {@code now}. */
    public List<DeviceInterval> openDeviceTime(Instant now) {
        return devices.unpublished(
                open.values().stream()
                        .filter(interval ->
                                !devices.isIdleWithin(interval.slot().deviceUuid(), interval.from(), now))
                        .map(interval -> DeviceAccounting.held(this, interval.holding(), 1, interval.from(), now))
                        .toList(),
                now);
    }

    /** True while the silence of its daemon would change what is known: nothing says so yet, and a GPU is there or held. */
    public boolean awaitsDaemon() {
        return vouched() || devices.hasGpus() && !devices.silent();
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
