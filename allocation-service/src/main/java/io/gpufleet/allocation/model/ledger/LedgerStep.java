package io.gpufleet.allocation.model.ledger;

import java.util.List;

/** What one fact did: the state after it, and what is to be published with it. */
public record LedgerStep(NodeLedger next, List<UsageEntry> published) {}
