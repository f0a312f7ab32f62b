package io.gpufleet.allocation.model.quota;

import java.util.Comparator;

/** A limit of a quota, by its {@link QuotaLimit#id}. */
public record LimitKey(String quota, String limit) implements Comparable<LimitKey> {
    private static final Comparator<LimitKey> ORDER =
            Comparator.comparing(LimitKey::quota).thenComparing(LimitKey::limit);

    @Override
    public int compareTo(LimitKey other) {
        return ORDER.compare(this, other);
    }
}
