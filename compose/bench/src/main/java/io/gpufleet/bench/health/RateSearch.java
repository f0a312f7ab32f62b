package io.gpufleet.bench.health;

import java.util.OptionalInt;

/** Search for the highest rate that can be sustained: up by a tenth while one can, or down by a tenth until one can. */
final class RateSearch {
    private static final int TENTH = 10;
    /** Where a tenth is still a whole number of events. */
    private static final int LEAST = 100;

    private int highest;
    private boolean failed;

    /** Takes the result at a rate; returns the next one to try, none once the highest is known. */
    OptionalInt next(int rate, boolean sustained) {
        failed |= !sustained;
        if (sustained) {
            highest = Math.max(highest, rate);
        }
        int next = sustained ? rate + rate / TENTH : rate - rate / TENTH;
        boolean known = failed && highest > 0;
        return known || next < LEAST ? OptionalInt.empty() : OptionalInt.of(next);
    }

    /** The highest rate that could be sustained; 0 for none. */
    int highest() {
        return highest;
    }
}
