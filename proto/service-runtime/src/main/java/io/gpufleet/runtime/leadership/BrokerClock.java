package io.gpufleet.runtime.leadership;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/** The difference between our clock and the broker's, learnt from the append time of each acknowledged record. */
public final class BrokerClock {
    /** Above this a replica says so in its readiness. */
    public static final Duration TOLERATED = Duration.ofSeconds(30);

    private final Clock clock;
    private volatile long offsetMillis;

    public BrokerClock(Clock clock) {
        this.clock = clock;
    }

    /** A record sent at this time was appended by the broker at that one, and is acknowledged now. */
    public void learn(long sentMillis, long appendedMillis) {
        long acknowledged = clock.millis();
        if (acknowledged < sentMillis) {
            return;
        }
        // The append lies between the two; within the round trip there is no difference to be seen.
        if (appendedMillis < sentMillis) {
            offsetMillis = appendedMillis - sentMillis;
        } else {
            offsetMillis = Math.max(0, appendedMillis - acknowledged);
        }
    }

    /** Our clock, corrected to the broker's. */
    public Instant now() {
        return clock.instant().plusMillis(offsetMillis);
    }

    /** How far the broker's clock is ahead of ours; negative when it is behind. */
    public Duration offset() {
        return Duration.ofMillis(offsetMillis);
    }
}
