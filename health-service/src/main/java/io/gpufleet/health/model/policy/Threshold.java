package io.gpufleet.health.model.policy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * How often a fault has to be observed before it counts: the window is divided into equal slots, and so many of them have an
 * observation. Any number in one slot is one, so that a burst proves no more than a single fault.
 *
 * @param count slots with an observation
 * @param of slots in the window
 * @param within the window
 */
public record Threshold(int count, int of, Duration within) {
    /** The first observation counts. */
    public static final Threshold FIRST = new Threshold(1, 1, Duration.ZERO);

    private static final int MAX_SLOTS = 100;

    /** Rejects a threshold that nothing reaches. */
    public Threshold {
        if (count < 1 || count > of || of > MAX_SLOTS) {
            throw new IllegalArgumentException(
                    "threshold takes count from 1, and of from count to " + MAX_SLOTS + ", not " + count + " of " + of);
        }
        if (of > 1 && within.dividedBy(of).compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException("threshold takes a window of at least one second for each of its " + of);
        }
    }

    /** True when the first observation counts. */
    public boolean isFirst() {
        return count == 1;
    }

    /** The observations that still count, with this one; one for each slot. */
    public List<Instant> with(List<Instant> seen, Instant at) {
        var kept = new ArrayList<>(
                seen.stream().filter(time -> slot(time) > slot(at) - of).toList());
        if (kept.stream().noneMatch(time -> slot(time) == slot(at))) {
            kept.add(at);
        }
        return kept;
    }

    /** True when these observations, of different slots, are enough. */
    public boolean reached(List<Instant> seen) {
        return seen.size() >= count;
    }

    private long slot(Instant at) {
        long length =
                of == 1 ? Math.max(1, within.toMillis()) : within.dividedBy(of).toMillis();
        return Math.floorDiv(at.toEpochMilli(), length);
    }
}
