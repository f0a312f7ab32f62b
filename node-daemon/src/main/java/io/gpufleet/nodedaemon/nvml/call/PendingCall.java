package io.gpufleet.nodedaemon.nvml.call;

import java.time.Duration;

/** Work in progress. */
public interface PendingCall<T> {
    /** Waits for the result until the deadline of the call; HUNG where the work does not return in time. */
    T await() throws NvmlFailure;

    /** Waits for the result, at most that long; BUSY where it may still come before the deadline. */
    T await(Duration atMost) throws NvmlFailure;

    /** Waits until the work is done, well or not, at most that long. */
    void settle(Duration atMost);
}
