package io.gpufleet.runtime.leadership;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The difference between our clock and the broker's, learnt from the append time of each acknowledged record. */
public final class BrokerClock {
    /** Above this a replica says so in its readiness. */
    private static final Duration TOLERATED = Duration.ofSeconds(30);

    /** Further apart our clock was set, or the machine slept: what was learnt before is of no use. */
    private static final long JUMP_MILLIS = 1_000;

    private final Clock clock;
    private final LongSupplier nanos;
    private volatile Learnt learnt;

    /** Lead of the broker's clock by the newest acknowledgement, and when it came, by both of our clocks. */
    private record Learnt(long offsetMillis, long atMillis, long atNanos) {}

    /** When a record was sent, by both of our clocks. */
    public record Sent(long millis, long nanos) {}

    /** Nothing is learnt yet: our clock counts as right. */
    public BrokerClock(Clock clock, LongSupplier nanos) {
        this.clock = clock;
        this.nanos = nanos;
        this.learnt = new Learnt(0, clock.millis(), nanos.getAsLong());
    }

    /** A record is sent now. */
    public Sent sending() {
        return new Sent(clock.millis(), nanos.getAsLong());
    }

    /** A record was appended by the broker at this time, and is acknowledged now; of no use where our clock jumped meanwhile. */
    public void learn(Sent sent, long appendedMillis) {
        long sentMillis = sent.millis();
        long acknowledged = clock.millis();
        if (acknowledged < sentMillis || jumped(sentMillis, sent.nanos(), acknowledged)) {
            return;
        }
        // The append lies between the two; within the round trip there is no difference to be seen.
        long offset =
                appendedMillis < sentMillis ? appendedMillis - sentMillis : Math.max(0, appendedMillis - acknowledged);
        learnt = new Learnt(offset, acknowledged, nanos.getAsLong());
    }

    /** Our clock, corrected to the broker's; after a jump the monotonic one goes on until the difference is learnt anew. */
    public Instant now() {
        Learnt last = learnt;
        Instant ours = clock.instant();
        if (!jumped(last.atMillis(), last.atNanos(), ours.toEpochMilli())) {
            return ours.plusMillis(last.offsetMillis());
        }
        return Instant.ofEpochMilli(last.atMillis() + last.offsetMillis())
                .plusNanos(nanos.getAsLong() - last.atNanos());
    }

    /** A clock for those who act beside the engine, right while a leader commits. */
    public Clock corrected() {
        InstantSource source = this::now;
        return source.withZone(ZoneOffset.UTC);
    }

    /** Our clock as it is. */
    public Clock own() {
        return clock;
    }

    /** How far the broker's clock is ahead of ours; negative when it is behind. */
    public Duration offset() {
        return Duration.ofMillis(learnt.offsetMillis());
    }

    /** The reason of a replica that is not ready, one line; empty while the difference is tolerated. */
    public Optional<String> readinessFailure() {
        Duration offset = offset();
        return offset.abs().compareTo(TOLERATED) > 0
                // Not toSeconds(), which rounds down: -30.5 s would be -31.
                ? Optional.of(
                        "our clock differs from the broker's by " + offset.toMillis() / 1_000 + " s: synchronise it")
                : Optional.empty();
    }

    /** True when our clock does not go on from where it was when the difference was learnt: it must be learnt anew. */
    public boolean jumped() {
        Learnt last = learnt;
        return jumped(last.atMillis(), last.atNanos(), clock.millis());
    }

    private boolean jumped(long sinceMillis, long sinceNanos, long nowMillis) {
        long elapsed = TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - sinceNanos);
        return Math.abs(nowMillis - sinceMillis - elapsed) > JUMP_MILLIS;
    }
}
