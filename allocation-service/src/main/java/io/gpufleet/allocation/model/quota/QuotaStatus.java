package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.util.Collections;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Status of a quota.
 *
 * @param leader token of the replica that leads the quota
 * @param term increases with every change of leader; the higher one leads
 * @param escrow by limit: GPUs or devices that the leader may admit without another write
 * @param used by limit: GPUs or devices in use, as last written
 * @param unknownLimits limits that select no device of any node
 */
public record QuotaStatus(
        String leader,
        long term,
        Map<String, Integer> escrow,
        Map<String, GpuAmount> used,
        SortedSet<String> unknownLimits) {
    /** Status of a quota without a leader. */
    public static final QuotaStatus NONE = new QuotaStatus("", 0, Map.of(), Map.of(), new TreeSet<>());

    /** Copies, sorted. */
    public QuotaStatus {
        escrow = Collections.unmodifiableMap(new TreeMap<>(escrow));
        used = Collections.unmodifiableMap(new TreeMap<>(used));
        unknownLimits = Collections.unmodifiableSortedSet(new TreeSet<>(unknownLimits));
    }

    /** The same status with another leader. */
    public QuotaStatus withLeader(String token, long newTerm) {
        return new QuotaStatus(token, newTerm, escrow, used, unknownLimits);
    }

    /** The same status with another escrow. */
    public QuotaStatus withEscrow(Map<String, Integer> other) {
        return new QuotaStatus(leader, term, other, used, unknownLimits);
    }

    /** The same status with other counts. */
    public QuotaStatus withUsed(Map<String, GpuAmount> counted) {
        return new QuotaStatus(leader, term, escrow, counted, unknownLimits);
    }

    /** The same status with other unknown limits. */
    public QuotaStatus withUnknownLimits(SortedSet<String> limits) {
        return new QuotaStatus(leader, term, escrow, used, limits);
    }
}
