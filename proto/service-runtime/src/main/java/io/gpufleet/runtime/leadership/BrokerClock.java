package io.gpufleet.runtime.leadership;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The difference between our clock and the broker's, learnt from the append time of each acknowledged record. */
public final class BrokerClock {
    /** Above this a replica says so in its readiness. */
    public static final Duration TOLERATED = Duration.ofSeconds(30);

    /** Further apart our clock was set, or the machine slept: what was learnt before is of no use. */
    private static final long JUMP_MILLIS = 1_000;

    private final Clock clock;
    private final LongSupplier nanos;
    private volatile Learnt learnt;

    /** Lead of the broker's clock by the newest acknowledgement, and when it came, by both of our clocks. */
    private record Learnt(long offsetMillis, long atMillis, long atNanos) {}

    /** Nothing is learnt yet: our clock counts as right. */
    public BrokerClock(Clock clock, LongSupplier nanos) {
        this.clock = clock;
        this.nanos = nanos;
        this.learnt = new Learnt(0, clock.millis(), nanos.getAsLong());
    }

    /** A record sent at this time was appended by the broker at that one, and is acknowledged now. */
    public void learn(long sentMillis, long appendedMillis) {
        long acknowledged = clock.millis();
        if (acknowledged < sentMillis) {
            return;
        }
        // The append lies between the two; within the round trip there is no difference to be seen.
        long offset =
                appendedMillis < sentMillis ? appendedMillis - sentMillis : Math.max(0, appendedMillis - acknowledged);
        learnt = new Learnt(offset, acknowledged, nanos.getAsLong());
    }

    /** Our clock, corrected to the broker's. */
    public Instant now() {
        return clock.instant().plusMillis(learnt.offsetMillis());
    }

    /** How far the broker's clock is ahead of ours; negative when it is behind. */
    public Duration offset() {
        return Duration.ofMillis(learnt.offsetMillis());
    }

    /** True when our clock does not go on from where it was when the difference was learnt: it must be learnt anew. */
    public boolean jumped() {
        Learnt last = learnt;
        long elapsed = TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - last.atNanos());
        return Math.abs(clock.millis() - last.atMillis() - elapsed) > JUMP_MILLIS;
    }
}
