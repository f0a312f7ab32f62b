package io.gpufleet.runtime.workqueue;

import java.time.Duration;

/**
 * Wait before a key that failed is tried again: doubles with each failure, and is spread over its upper half, so that keys
 * that failed together are not tried together.
 *
 * @param initial longest wait after the first failure
 * @param limit longest wait
 */
public record Backoff(Duration initial, Duration limit) {
    private static final int MAX_DOUBLINGS = 30;

    /**
     * Computes the wait.
     *
     * @param failures number of failures without a success between them, from 1
     * @param random between 0 and 1: the shortest and the longest wait
     */
    public Duration after(int failures, double random) {
        Duration doubled = initial.multipliedBy(1L << Math.min(failures - 1, MAX_DOUBLINGS));
        Duration longest = doubled.compareTo(limit) < 0 ? doubled : limit;
        return Duration.ofNanos((long) (longest.toNanos() * (0.5 + random / 2)));
    }
}
