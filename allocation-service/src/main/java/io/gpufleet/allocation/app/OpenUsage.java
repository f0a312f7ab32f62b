package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.ClosedUsageInterval;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.allocation.model.ledger.UsageEntry;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Usage in the ledger of a node that is not read from {@code gpu.usage} yet, up to an instant: what is open, and what closed
 * lately. An interval that was in the log only would be in no sum between the commit of its closing and its reading.
 */
record OpenUsage(String node, NodeLedger ledger, Instant now) {
    /** Pieces of the log by their ids. */
    interface ReadPieces {
        /** The piece; empty while it is not read, and once it is dropped. */
        Optional<UsagePiece> get(String id);
    }

    /**
     * Pieces of the intervals of holders that are not read, and what unread adjustments add to those that are or take off
     * them. An interval that ended by {@code dropped} may have been read and dropped.
     */
    List<UsagePiece> unread(ReadPieces read, Instant dropped) {
        List<UsagePiece> pieces = new ArrayList<>();
        for (ClosedUsageInterval closed : ledger.closed().intervals()) {
            // An end that moved within its second was not published: by its second, so that none is counted again.
            if (closed.to().truncatedTo(ChronoUnit.SECONDS).isAfter(dropped)) {
                readEnd(closed, read)
                        .map(end -> difference(closed, end))
                        .orElseGet(() -> Optional.of(closed(closed)))
                        .ifPresent(pieces::add);
            }
        }
        for (OpenUsageInterval open : ledger.open().values()) {
            if (read.get(open.id()).isEmpty()) {
                pieces.add(held(open));
            }
        }
        return pieces;
    }

    /** End of an interval by what is read of it: its closing and adjustments are read in their order. */
    private static Optional<Instant> readEnd(ClosedUsageInterval closed, ReadPieces read) {
        for (int number = closed.adjustments(); number > 0; number--) {
            Optional<UsagePiece> adjustment = read.get(adjustmentId(closed, number));
            if (adjustment.isPresent()) {
                return adjustment.map(piece -> piece.weight().numerator() < 0 ? piece.from() : piece.to());
            }
        }
        return read.get(closed.id()).map(UsagePiece::to);
    }

    private static String adjustmentId(ClosedUsageInterval closed, int number) {
        return closed.id() + "/" + number;
    }

    private Optional<UsagePiece> difference(ClosedUsageInterval closed, Instant readEnd) {
        if (closed.to().getEpochSecond() == readEnd.getEpochSecond()) {
            return Optional.empty();
        }
        boolean shorter = closed.to().isBefore(readEnd);
        var adjusted = new UsageEntry.Adjusted(
                adjustmentId(closed, closed.adjustments()),
                closed.holding(),
                shorter ? closed.to() : readEnd,
                shorter ? readEnd : closed.to(),
                closed.quality(),
                shorter ? -1 : 1,
                closed.reason());
        return Optional.of(new UsagePiece(
                adjusted.id(),
                node,
                closed.holding(),
                ledger.attributesOf(closed.holding()).withReducesIdle(ledger.reducesIdle(adjusted)),
                adjusted.from(),
                adjusted.to(),
                closed.quality().text(),
                closed.holding().device().weight(shorter ? -1 : 1)));
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
                open.quality().text(),
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
                closed.quality().text(),
                closed.holding().device().weight(1));
    }
}
