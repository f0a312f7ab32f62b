package io.gpufleet.nodedaemon.model;

import java.time.Duration;
import java.time.Instant;

/**
 * One instant on both clocks: the wall clock says when, the monotonic one how long ago.
 *
 * @param wall by the node's clock, which may jump
 * @param nanos by the process's monotonic clock; only differences mean something
 */
public record Moment(Instant wall, long nanos) {
    /** Time that passed since an earlier moment of this process, by the monotonic clock. */
    public Duration since(long earlierNanos) {
        return Duration.ofNanos(nanos - earlierNanos);
    }
}
