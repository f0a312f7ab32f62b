package io.gpufleet.health.model.budget;

/**
 * How many of a group may be out of service at once: the smaller of both numbers, and at least one.
 *
 * @param percent of the group
 * @param absolute whatever the size of the group
 */
public record Limit(int percent, int absolute) {
    /** No limit. */
    public static final Limit NONE = new Limit(100, Integer.MAX_VALUE);

    /** Rejects a limit below one percent or above the whole. */
    public Limit {
        if (percent < 1 || percent > 100) {
            throw new IllegalArgumentException("percent=" + percent + " takes 1 to 100");
        }
        if (absolute < 1) {
            throw new IllegalArgumentException("absolute=" + absolute + " takes a number from 1");
        }
    }

    /** A share without an absolute number. */
    public static Limit percent(int percent) {
        return new Limit(percent, Integer.MAX_VALUE);
    }

    /** How many of so many may be out. All of them is no limit, also where none is counted yet. */
    public int of(int total) {
        return percent == 100 ? absolute : Math.max(1, Math.min(absolute, (int) ((long) percent * total / 100)));
    }
}
