package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.devicetime.DeviceTimeChanges;
import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.devicetime.HeldTime;
import io.gpufleet.allocation.model.devicetime.MutableNodeDevices;
import io.gpufleet.allocation.model.devicetime.NodeDevices;
import io.gpufleet.allocation.model.devicetime.Outage;
import io.gpufleet.allocation.model.holding.Holding;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/** Accounts for the time of the GPUs of a node beside that of their holders, with each fact. */
final class DeviceAccounting {
    /** Late facts change nothing that was longer ago, unless a holder since then is kept. */
    private static final Duration SETTLING = Duration.ofHours(1);

    private DeviceAccounting() {}

    /** The update with the time of devices that it changes. */
    static LedgerUpdate account(String cluster, String node, NodeLedger before, LedgerUpdate update) {
        NodeLedger next = update.next();
        boolean snapshot = !next.clock().lastSnapshot().equals(before.clock().lastSnapshot());
        boolean settles =
                snapshot && next.devices().isUnsettled() || next.devices().overflows();
        if (before.devices().equals(next.devices()) && update.published().isEmpty() && !settles) {
            return update;
        }
        var changes = new DeviceTimeChanges(before.devices(), next.devices(), ids(cluster, node));
        if (changes.moved()) {
            // Otherwise nothing of what was published is taken from anything else, and there is much of it.
            before.closed()
                    .intervals()
                    .forEach(interval ->
                            changes.published(held(next, interval.holding(), 1, interval.from(), interval.to())));
        }
        update.published().forEach(entry -> changes.publish(held(next, entry)));
        NodeDevices devices = settles ? changes.settled(settledBefore(update)) : changes.devices();
        return new LedgerUpdate(
                withDevices(next, devices.withMigParents(parents(next, devices))),
                update.published(),
                changes.intervals());
    }

    /** Rest of the time of devices of a node that is gone. */
    static List<DeviceInterval> ended(String cluster, String node, NodeLedger ledger, Instant goneSince) {
        var devices = new MutableNodeDevices(ledger.devices());
        devices.gone(ledger.clock().at(goneSince), false);
        var changes = new DeviceTimeChanges(ledger.devices(), devices.toNodeDevices(), ids(cluster, node));
        ledger.closed()
                .intervals()
                .forEach(interval ->
                        changes.published(held(ledger, interval.holding(), 1, interval.from(), interval.to())));
        NodeDevices _ = changes.settled(Instant.MAX);
        return changes.intervals();
    }

    private static LongFunction<String> ids(String cluster, String node) {
        return number -> IntervalId.ofDevice(cluster, node, number);
    }

    private static NodeLedger withDevices(NodeLedger ledger, NodeDevices devices) {
        if (devices.equals(ledger.devices())) {
            return ledger;
        }
        return new NodeLedger(
                ledger.bootId(),
                ledger.open(),
                ledger.pending(),
                devices,
                ledger.clock(),
                ledger.closed(),
                ledger.gpus(),
                ledger.goneSince());
    }

    /** Time of an entry as the time of its device. */
    static HeldTime held(NodeLedger ledger, UsageEntry entry) {
        return switch (entry) {
            case UsageEntry.Closed(ClosedUsageInterval interval) ->
                held(ledger, interval.holding(), 1, interval.from(), interval.to());
            case UsageEntry.Adjusted adjusted ->
                held(ledger, adjusted.holding(), adjusted.gpuMillis() < 0 ? -1 : 1, adjusted.from(), adjusted.to());
        };
    }

    /** Time of a holder as the time of its device. */
    static HeldTime held(NodeLedger ledger, Holding holding, int sign, Instant from, Instant to) {
        return new HeldTime(
                new GpuIdentity(
                        holding.device().slot().deviceUuid(), holding.device().shortModel(), ledger.productOf(holding)),
                holding.device().weight(sign),
                from,
                to);
    }

    private static Instant settledBefore(LedgerUpdate update) {
        NodeLedger ledger = update.next();
        Instant settled = ledger.clock().lastSnapshot().minus(SETTLING);
        for (OpenUsageInterval interval : ledger.open().values()) {
            settled = min(settled, interval.from());
        }
        for (ClosedUsageInterval interval : ledger.closed().intervals()) {
            settled = min(settled, interval.from());
        }
        for (UsageEntry entry : update.published()) {
            settled = min(settled, held(ledger, entry).from());
        }
        return settled;
    }

    private static Instant min(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    /** GPUs of the MIG devices that are announced, and of those whose time may still change. */
    private static Map<String, String> parents(NodeLedger ledger, NodeDevices devices) {
        if (devices.migParents().equals(ledger.gpus().migParents())) {
            return devices.migParents();
        }
        Set<String> needed = new HashSet<>(ledger.gpus().migParents().keySet());
        Stream.concat(
                        ledger.open().values().stream().map(OpenUsageInterval::holding),
                        ledger.closed().intervals().stream().map(ClosedUsageInterval::holding))
                .forEach(holding -> needed.add(holding.device().slot().deviceUuid()));
        devices.outages().stream().map(Outage::deviceUuid).forEach(needed::add);
        Map<String, String> parents = new HashMap<>(devices.migParents());
        parents.keySet().retainAll(needed);
        return parents;
    }
}
