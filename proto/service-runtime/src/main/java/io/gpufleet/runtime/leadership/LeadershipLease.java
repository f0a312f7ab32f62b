package io.gpufleet.runtime.leadership;

import io.gpufleet.runtime.projection.Lease;
import java.time.Duration;
import java.util.function.LongSupplier;

/** The lease of one term, renewed by every commit; counted by the monotonic clock from before the commit was sent. */
public final class LeadershipLease implements Lease {
    private final LongSupplier nanos;
    private final long durationNanos;
    private volatile long renewedNanos;
    private volatile boolean over = true;

    public LeadershipLease(Duration duration, LongSupplier nanos) {
        this.nanos = nanos;
        this.durationNanos = duration.toNanos();
    }

    /** A commit that was begun at this time has succeeded. */
    public void renew(long begunNanos) {
        renewedNanos = begunNanos;
        over = false;
    }

    /** The term is over; only a commit of a later one renews it. */
    public void end() {
        over = true;
    }

    @Override
    public boolean held() {
        return !over && nanos.getAsLong() - renewedNanos < durationNanos;
    }

    /** How long ago the newest commit was begun. */
    public Duration age() {
        return Duration.ofNanos(nanos.getAsLong() - renewedNanos);
    }

    /** How long after a fence no older leader holds its lease any more. */
    public long durationNanos() {
        return durationNanos;
    }
}
