package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaState;
import io.gpufleet.allocation.model.quota.QuotaUsage;
import java.util.List;

/**
 * A quota with its usage, for reading.
 *
 * @param leader whether this replica leads the quota
 */
public record QuotaView(String name, String mode, boolean leader, List<LimitView> limits) {
    /** One limit. */
    public record LimitView(QuotaLimit limit, QuotaUsage used, int escrow) {}

    static QuotaView of(QuotaState state, GpuQuota quota, boolean leader) {
        return new QuotaView(
                quota.name(),
                quota.mode() == GpuQuota.Mode.ENFORCE ? "Enforce" : "Warn",
                leader,
                quota.limits().stream()
                        .map(limit -> new LimitView(
                                limit,
                                state.usage(quota, limit),
                                quota.status().escrow().getOrDefault(limit.id(), 0)))
                        .toList());
    }
}
