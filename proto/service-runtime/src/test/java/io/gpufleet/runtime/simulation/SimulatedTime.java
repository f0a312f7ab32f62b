package io.gpufleet.runtime.simulation;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.function.Supplier;

/** Time that passes when it is told to. */
public final class SimulatedTime {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private long nanos;

    /** Lets time pass. */
    public void advance(Duration by) {
        nanos += by.toNanos();
    }

    /** Monotonic time. */
    public long nanos() {
        return nanos;
    }

    /** The broker's clock, which is right. */
    public Instant now() {
        return START.plusNanos(nanos);
    }

    /** A clock that is wrong by an offset. */
    public Clock clock(Supplier<Duration> offset) {
        InstantSource source = () -> now().plus(offset.get());
        return source.withZone(ZoneOffset.UTC);
    }
}
