package io.gpufleet.nodedaemon.model.device;

import java.time.Duration;
import java.time.Instant;

/**
 * One instant on both clocks: the wall clock for timestamps, the monotonic clock for durations.
 *
 * @param wall by the node's clock, which may jump
 * @param nanos by the process's monotonic clock; only differences are meaningful
 */
public record Moment(Instant wall, long nanos) {
    /** Returns the time since an earlier moment of this process, by the monotonic clock. */
    public Duration since(long earlierNanos) {
        return Duration.ofNanos(nanos - earlierNanos);
    }
}
