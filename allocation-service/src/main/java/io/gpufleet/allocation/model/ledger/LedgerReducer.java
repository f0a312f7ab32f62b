package io.gpufleet.allocation.model.ledger;

/** Folds facts into node ledgers. */
public final class LedgerReducer {
    private LedgerReducer() {}

    /** Folds one fact into the ledger of a node: the next state, and the entries to be published with it. */
    public static LedgerUpdate fold(String cluster, String node, NodeLedger ledger, LedgerFact fact) {
        return new MutableNodeLedger(cluster, node, ledger).fold(fact);
    }
}
