package io.gpufleet.allocation.model.quota;

import java.util.Map;
import java.util.TreeMap;

/**
 * What stands in a quota's status.
 *
 * @param holder token of the replica that decides
 * @param term counts up with every take-over; the higher one decides
 * @param escrow by model: what the deciding replica may admit without another write
 * @param used by model: what is used, as last written
 */
public record QuotaStatus(String holder, long term, Map<String, Integer> escrow, Map<String, Integer> used) {
    /** Nobody decides yet. */
    public static final QuotaStatus NONE = new QuotaStatus("", 0, Map.of(), Map.of());

    /** Copies, sorted. */
    public QuotaStatus {
        escrow = java.util.Collections.unmodifiableMap(new TreeMap<>(escrow));
        used = java.util.Collections.unmodifiableMap(new TreeMap<>(used));
    }

    /** Held by another token. */
    public QuotaStatus heldBy(String token, long newTerm) {
        return new QuotaStatus(token, newTerm, escrow, used);
    }

    /** With another escrow. */
    public QuotaStatus escrowing(Map<String, Integer> more) {
        return new QuotaStatus(holder, term, more, used);
    }

    /** With other counts. */
    public QuotaStatus counting(Map<String, Integer> counted) {
        return new QuotaStatus(holder, term, escrow, counted);
    }
}
