package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.QuotaUsage;
import java.util.List;

/**
 * A quota with its usage, for reading.
 *
 * @param leader whether this replica leads the quota
 */
public record QuotaView(String name, String mode, boolean leader, List<LimitView> limits) {
    /** One limit. */
    public record LimitView(String model, int limit, QuotaUsage used, int escrow) {}
}
