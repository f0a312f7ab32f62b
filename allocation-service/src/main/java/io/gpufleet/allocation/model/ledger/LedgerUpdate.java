package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import java.util.List;

/** Result of a folded fact: the state after it, and the entries to be published with it, of holders and of devices. */
public record LedgerUpdate(NodeLedger next, List<UsageEntry> published, List<DeviceInterval> deviceTime) {}
