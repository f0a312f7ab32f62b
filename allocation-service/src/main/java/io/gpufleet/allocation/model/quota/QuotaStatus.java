package io.gpufleet.allocation.model.quota;

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
 * @param escrow by model: GPUs that the leader may admit without another write
 * @param used by model: GPUs in use, as last written
 * @param unknownModels models of its limits that no node has
 */
public record QuotaStatus(
        String leader,
        long term,
        Map<String, Integer> escrow,
        Map<String, Integer> used,
        SortedSet<String> unknownModels) {
    /** Status of a quota without a leader. */
    public static final QuotaStatus NONE = new QuotaStatus("", 0, Map.of(), Map.of(), new TreeSet<>());

    /** Copies, sorted. */
    public QuotaStatus {
        escrow = Collections.unmodifiableMap(new TreeMap<>(escrow));
        used = Collections.unmodifiableMap(new TreeMap<>(used));
        unknownModels = Collections.unmodifiableSortedSet(new TreeSet<>(unknownModels));
    }

    /** The same status with another leader. */
    public QuotaStatus withLeader(String token, long newTerm) {
        return new QuotaStatus(token, newTerm, escrow, used, unknownModels);
    }

    /** The same status with another escrow. */
    public QuotaStatus withEscrow(Map<String, Integer> other) {
        return new QuotaStatus(leader, term, other, used, unknownModels);
    }

    /** The same status with other counts. */
    public QuotaStatus withUsed(Map<String, Integer> counted) {
        return new QuotaStatus(leader, term, escrow, counted, unknownModels);
    }

    /** The same status with other unknown models. */
    public QuotaStatus withUnknownModels(SortedSet<String> models) {
        return new QuotaStatus(leader, term, escrow, used, models);
    }
}
