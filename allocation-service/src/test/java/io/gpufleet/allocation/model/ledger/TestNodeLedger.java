package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** A node of a test: folds facts and sums what is published. Times are seconds of the node's clock. */
final class TestNodeLedger {
    static final String BOOT = "boot-1";

    private NodeLedger ledger = NodeLedger.EMPTY;
    private final List<UsageEntry> published = new ArrayList<>();
    private final List<DeviceInterval> deviceTime = new ArrayList<>();
    private final Set<String> reducesIdle = new HashSet<>();
    private long sequence;

    static Instant at(double seconds) {
        return Instant.ofEpochMilli(1_700_000_000_000L + Math.round(seconds * 1000));
    }

    static Holding holding(String pod, String uid, String device) {
        return holding(pod, uid, "main", device, 1);
    }

    static Holding holding(String pod, String uid, String container, String device, int shareOf) {
        int replica = device.contains("::") ? Integer.parseInt(device.substring(device.indexOf("::") + 2)) : 0;
        String uuid = device.contains("::") ? device.substring(0, device.indexOf("::")) : device;
        return new Holding(
                new Holder("ml", pod, uid, container, "nvidia.com/gpu"),
                new HeldDevice(device, new DeviceSlot(uuid, replica), "A100", shareOf, ""));
    }

    static LedgerFact podFinished(String pod, String uid, double finishedAt) {
        return new LedgerFact.PodFinished(new FinishedPod("ml", pod, uid, at(finishedAt)));
    }

    LedgerFact allocated(double at, String... devices) {
        return new LedgerFact.Allocated(
                BOOT, "nvidia.com/gpu", Arrays.asList(devices), at(at), at(at), new EventSequence(1, ++sequence));
    }

    LedgerFact held(double at, Holding... holdings) {
        return heldAfterBoot(BOOT, at, true, holdings);
    }

    LedgerFact heldAfterBoot(String boot, double at, boolean complete, Holding... holdings) {
        return new LedgerFact.HoldingsSnapshot(
                boot, Arrays.asList(holdings), complete, at(at), at(at), 0, new EventSequence(1, ++sequence));
    }

    TestNodeLedger fold(LedgerFact... facts) {
        for (LedgerFact fact : facts) {
            LedgerUpdate update = LedgerReducer.fold("c1", "n1", ledger, fact);
            ledger = update.next();
            published.addAll(update.published());
            deviceTime.addAll(update.deviceTime());
            update.published().stream()
                    .filter(ledger::reducesIdle)
                    .map(TestNodeLedger::id)
                    .forEach(reducesIdle::add);
        }
        return this;
    }

    /** What a replica committed: state and number of published entries. */
    record Commit(NodeLedger ledger, int published, int deviceTime) {}

    Commit commit() {
        return new Commit(ledger, published.size(), deviceTime.size());
    }

    /** A kill before the next commit: its transaction never becomes visible. */
    void restore(Commit commit) {
        ledger = commit.ledger();
        published.subList(commit.published(), published.size()).clear();
        deviceTime.subList(commit.deviceTime(), deviceTime.size()).clear();
    }

    NodeLedger ledger() {
        return ledger;
    }

    /** The only open interval. */
    OpenUsageInterval onlyOpenInterval() {
        return ledger.open().values().iterator().next();
    }

    List<UsageEntry> published() {
        return published;
    }

    List<ClosedUsageInterval> closed() {
        return published.stream()
                .filter(UsageEntry.Closed.class::isInstance)
                .map(entry -> ((UsageEntry.Closed) entry).interval())
                .toList();
    }

    List<UsageEntry.Adjusted> adjusted() {
        return published.stream()
                .filter(UsageEntry.Adjusted.class::isInstance)
                .map(UsageEntry.Adjusted.class::cast)
                .toList();
    }

    /** Intervals of devices published so far. */
    List<DeviceInterval> deviceTime() {
        return deviceTime;
    }

    /** True when the idle time of the GPU is less by what was published. */
    boolean reducesIdle(UsageEntry entry) {
        return reducesIdle.contains(id(entry));
    }

    private static String id(UsageEntry entry) {
        return switch (entry) {
            case UsageEntry.Closed(ClosedUsageInterval interval) -> interval.id();
            case UsageEntry.Adjusted adjusted -> adjusted.id();
        };
    }

    /** Milli-GPU-seconds published so far, by pod; pods with none are left out. */
    Map<String, Long> millisByPod() {
        Map<String, Long> sums = new TreeMap<>();
        for (UsageEntry entry : published) {
            switch (entry) {
                case UsageEntry.Closed(ClosedUsageInterval interval) ->
                    sums.merge(interval.holding().holder().pod(), interval.gpuMillis(), Long::sum);
                case UsageEntry.Adjusted adjusted ->
                    sums.merge(adjusted.holding().holder().pod(), adjusted.gpuMillis(), Long::sum);
            }
        }
        sums.values().removeIf(sum -> sum == 0);
        return sums;
    }

    /** Milli-GPU-seconds published so far, of one quality. */
    long millis(IntervalQuality quality) {
        long sum = 0;
        for (UsageEntry entry : published) {
            sum += switch (entry) {
                case UsageEntry.Closed(ClosedUsageInterval interval) ->
                    interval.quality() == quality ? interval.gpuMillis() : 0;
                case UsageEntry.Adjusted adjusted -> adjusted.quality() == quality ? adjusted.gpuMillis() : 0;
            };
        }
        return sum;
    }
}
