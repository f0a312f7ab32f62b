package io.gpufleet.allocation.model.ledger;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A node of a test: facts go in, sums come out. Times are seconds of the node's clock. */
final class Scene {
    static final String BOOT = "boot-1";

    private NodeLedger ledger = NodeLedger.EMPTY;
    private final List<UsageEntry> published = new ArrayList<>();
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

    static LedgerFact ended(String pod, String uid, double finishedAt) {
        return new LedgerFact.PodEnded(new EndedPod("ml", pod, uid, at(finishedAt)));
    }

    LedgerFact allocated(double at, String... devices) {
        return new LedgerFact.Allocated(
                BOOT, "nvidia.com/gpu", Arrays.asList(devices), at(at), at(at), new Stamp(1, ++sequence));
    }

    LedgerFact held(double at, Holding... holdings) {
        return heldAfterBoot(BOOT, at, true, holdings);
    }

    LedgerFact heldAfterBoot(String boot, double at, boolean complete, Holding... holdings) {
        return new LedgerFact.Snapshot(
                boot, Arrays.asList(holdings), complete, at(at), at(at), 0, new Stamp(1, ++sequence));
    }

    Scene fold(LedgerFact... facts) {
        for (LedgerFact fact : facts) {
            LedgerStep step = ledger.fold("c1", "n1", fact);
            ledger = step.next();
            published.addAll(step.published());
        }
        return this;
    }

    NodeLedger ledger() {
        return ledger;
    }

    /** The only open interval. */
    OpenInterval theOpen() {
        return ledger.open().values().iterator().next();
    }

    List<UsageEntry> published() {
        return published;
    }

    List<ClosedInterval> closed() {
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

    /** Milli-GPU-seconds published so far, by pod; nothing is left out. */
    Map<String, Long> millisByPod() {
        Map<String, Long> sums = new TreeMap<>();
        for (UsageEntry entry : published) {
            switch (entry) {
                case UsageEntry.Closed(ClosedInterval interval) ->
                    sums.merge(interval.holding().holder().pod(), interval.gpuMillis(), Long::sum);
                case UsageEntry.Adjusted adjusted ->
                    sums.merge(adjusted.holding().holder().pod(), adjusted.gpuMillis(), Long::sum);
            }
        }
        sums.values().removeIf(sum -> sum == 0);
        return sums;
    }

    /** Milli-GPU-seconds published so far, of one quality. */
    long millis(Quality quality) {
        long sum = 0;
        for (UsageEntry entry : published) {
            sum += switch (entry) {
                case UsageEntry.Closed(ClosedInterval interval) ->
                    interval.quality() == quality ? interval.gpuMillis() : 0;
                case UsageEntry.Adjusted adjusted -> adjusted.quality() == quality ? adjusted.gpuMillis() : 0;
            };
        }
        return sum;
    }
}
