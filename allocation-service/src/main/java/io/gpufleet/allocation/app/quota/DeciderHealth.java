package io.gpufleet.allocation.app.quota;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Failures of the quota decider: one that stays, and a thread that hangs, are reasons to restart. On any thread. */
public final class DeciderHealth {
    private static final Duration TOLERATED = Duration.ofSeconds(30);

    private final LongSupplier nanos;
    private final AtomicLong failures = new AtomicLong();
    private volatile long turnedAt;
    private volatile long soundAt;
    private volatile String failure = "";

    /** {@code nanos} is a monotonic clock. */
    public DeciderHealth(LongSupplier nanos) {
        this.nanos = nanos;
        this.turnedAt = nanos.getAsLong();
        this.soundAt = turnedAt;
    }

    /** The thread took what waited; {@code sound} when nothing of it failed. */
    void turned(boolean sound) {
        turnedAt = nanos.getAsLong();
        if (sound) {
            soundAt = turnedAt;
        }
    }

    /** A request or an observation failed. */
    void failed(RuntimeException cause) {
        failures.incrementAndGet();
        failure = cause.toString();
    }

    /** Failures since the start. */
    public long failures() {
        return failures.get();
    }

    /** Why the process should be restarted; empty while single failures pass. */
    public List<String> livenessFailures() {
        long now = nanos.getAsLong();
        if (now - turnedAt > TOLERATED.toNanos()) {
            return List.of("the quota decider has not answered for "
                    + Duration.ofNanos(now - turnedAt).toSeconds() + " s");
        }
        return now - soundAt > TOLERATED.toNanos()
                ? List.of("the quota decider fails for "
                        + Duration.ofNanos(now - soundAt).toSeconds() + " s: " + failure)
                : List.of();
    }
}
