package io.gpufleet.allocation.model.quota;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * Status of a quota.
 *
 * @param leader token of the replica that leads the quota
 * @param term increases with every change of leader; the higher one leads
 * @param escrow by model: GPUs that the leader may admit without another write
 * @param used by model: GPUs in use, as last written
 */
public record QuotaStatus(String leader, long term, Map<String, Integer> escrow, Map<String, Integer> used) {
    /** Status of a quota without a leader. */
    public static final QuotaStatus NONE = new QuotaStatus("", 0, Map.of(), Map.of());

    /** Copies, sorted. */
    public QuotaStatus {
        escrow = Collections.unmodifiableMap(new TreeMap<>(escrow));
        used = Collections.unmodifiableMap(new TreeMap<>(used));
    }

    /** The same status with another leader. */
    public QuotaStatus withLeader(String token, long newTerm) {
        return new QuotaStatus(token, newTerm, escrow, used);
    }

    /** The same status with another escrow. */
    public QuotaStatus withEscrow(Map<String, Integer> other) {
        return new QuotaStatus(leader, term, other, used);
    }

    /** The same status with other counts. */
    public QuotaStatus withUsed(Map<String, Integer> counted) {
        return new QuotaStatus(leader, term, escrow, counted);
    }
}
