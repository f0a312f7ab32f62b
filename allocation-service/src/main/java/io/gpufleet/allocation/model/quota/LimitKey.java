package io.gpufleet.allocation.model.quota;

import java.util.Comparator;

/** A limit of a quota. */
public record LimitKey(String quota, String model) implements Comparable<LimitKey> {
    private static final Comparator<LimitKey> ORDER =
            Comparator.comparing(LimitKey::quota).thenComparing(LimitKey::model);

    @Override
    public int compareTo(LimitKey other) {
        return ORDER.compare(this, other);
    }
}
