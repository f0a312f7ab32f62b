package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Folds facts into node ledgers. */
public final class LedgerReducer {
    private LedgerReducer() {}

    /** Folds one fact into the ledger of a node: the next state, and the entries to be published with it. */
    public static LedgerUpdate fold(String cluster, String node, NodeLedger ledger, LedgerFact fact) {
        return DeviceAccounting.account(cluster, node, ledger, new MutableNodeLedger(cluster, node, ledger).fold(fact));
    }

    /** Folds the facts of one input, in their order, into one update; one that throws leaves nothing of the others. */
    public static LedgerUpdate fold(String cluster, String node, NodeLedger ledger, List<LedgerFact> facts) {
        NodeLedger next = ledger;
        List<UsageEntry> published = new ArrayList<>();
        List<DeviceInterval> deviceTime = new ArrayList<>();
        for (LedgerFact fact : facts) {
            LedgerUpdate update = fold(cluster, node, next, fact);
            next = update.next();
            published.addAll(update.published());
            deviceTime.addAll(update.deviceTime());
        }
        return new LedgerUpdate(next, published, deviceTime);
    }

    /** Ends all that lasts on a node that is gone: it is forgotten after that. */
    public static LedgerUpdate forget(String cluster, String node, NodeLedger ledger, Instant goneSince) {
        LedgerUpdate last =
                fold(cluster, node, ledger, new LedgerFact.MachineGone(goneSince, IntervalEndReason.NODE_LOST));
        List<DeviceInterval> deviceTime = new ArrayList<>(last.deviceTime());
        deviceTime.addAll(DeviceAccounting.ended(cluster, node, last.next(), goneSince));
        return new LedgerUpdate(last.next(), last.published(), deviceTime);
    }
}
