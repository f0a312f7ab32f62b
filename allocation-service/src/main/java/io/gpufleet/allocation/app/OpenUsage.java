package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.ClosedUsageInterval;
import io.gpufleet.allocation.model.ledger.IntervalQuality;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.allocation.model.ledger.UsageEntry;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

/**
 * Usage in the ledger of a node that is not read from {@code gpu.usage} yet, up to an instant: what is open, and what closed
 * lately. An interval that was in the log only would be in no sum between the commit of its closing and its reading.
 */
record OpenUsage(String node, NodeLedger ledger, Instant now) {
    /**
     * Pieces of the intervals of holders that are not read. A closing with an adjustment was read or is about to be, and one that ended
     * by {@code dropped} may have been read and dropped.
     *
     * @param read tells an id that is read
     */
    List<UsagePiece> unread(Predicate<String> read, Instant dropped) {
        List<UsagePiece> pieces = new ArrayList<>();
        for (ClosedUsageInterval closed : ledger.closed().intervals()) {
            if (closed.adjustments() == 0 && closed.to().isAfter(dropped) && !read.test(closed.id())) {
                pieces.add(closed(closed));
            }
        }
        for (OpenUsageInterval open : ledger.open().values()) {
            if (!read.test(open.id())) {
                pieces.add(held(open));
            }
        }
        return pieces;
    }

    /** Pieces of the time of GPUs that nobody holds. */
    List<UsagePiece> unheld() {
        return ledger.openDeviceTime(now).stream()
                .map(interval -> UsagePiece.of(node, interval))
                .toList();
    }

    private UsagePiece held(OpenUsageInterval open) {
        return new UsagePiece(
                open.id(),
                node,
                open.holding(),
                ledger.attributesOf(open.holding()).withReducesIdle(true),
                open.from(),
                now.isAfter(open.from()) ? now : open.from(),
                name(open.quality()),
                open.holding().device().weight(1));
    }

    private UsagePiece closed(ClosedUsageInterval closed) {
        return new UsagePiece(
                closed.id(),
                node,
                closed.holding(),
                ledger.attributesOf(closed.holding())
                        .withReducesIdle(ledger.reducesIdle(new UsageEntry.Closed(closed))),
                closed.from(),
                closed.to(),
                name(closed.quality()),
                closed.holding().device().weight(1));
    }

    private static String name(IntervalQuality quality) {
        return quality.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
