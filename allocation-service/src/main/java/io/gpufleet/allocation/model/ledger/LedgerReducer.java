package io.gpufleet.allocation.model.ledger;

import java.util.ArrayList;
import java.util.List;

/** Folds facts into node ledgers. */
public final class LedgerReducer {
    private LedgerReducer() {}

    /** Folds one fact into the ledger of a node: the next state, and the entries to be published with it. */
    public static LedgerUpdate fold(String cluster, String node, NodeLedger ledger, LedgerFact fact) {
        return new MutableNodeLedger(cluster, node, ledger).fold(fact);
    }

    /** Folds the facts of one input, in their order, into one update; one that throws leaves nothing of the others. */
    public static LedgerUpdate fold(String cluster, String node, NodeLedger ledger, List<LedgerFact> facts) {
        NodeLedger next = ledger;
        List<UsageEntry> published = new ArrayList<>();
        for (LedgerFact fact : facts) {
            LedgerUpdate update = fold(cluster, node, next, fact);
            next = update.next();
            published.addAll(update.published());
        }
        return new LedgerUpdate(next, published);
    }
}
