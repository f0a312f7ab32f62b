package io.gpufleet.runtime.workqueue;

import java.time.Duration;

/** When a key is worked on next. */
public sealed interface ReconcileResult {
    /** When it is added next. */
    record Done() implements ReconcileResult {}

    /** After this time, or when it is added before. */
    record RequeueAfter(Duration after) implements ReconcileResult {}

    /**
     * After the backoff, since a call failed, or when it is added before.
     *
     * @param atLeast what the other side asked for, such as {@code Retry-After}
     */
    record RetryAfter(Duration atLeast) implements ReconcileResult {
        /** After the backoff alone. */
        public static RetryAfter backoff() {
            return new RetryAfter(Duration.ZERO);
        }
    }
}
