package io.gpufleet.allocation.model.ledger;

import java.util.List;

/** Result of a folded fact: the state after it, and the entries to be published with it. */
public record LedgerUpdate(NodeLedger next, List<UsageEntry> published) {}
