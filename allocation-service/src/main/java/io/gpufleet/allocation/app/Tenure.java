package io.gpufleet.allocation.app;

import java.time.Duration;

/**
 * The right to decide, as the quotas' own objects prove it: a token written into each status, and a proof that is not
 * old. A replica that Kafka or a long pause left behind loses the right by its own monotonic clock, before the pods it
 * might still have admitted are counted out by its successor.
 *
 * @param provenNanos monotonic time before the newest read or write that found the token in force
 */
record Tenure(String token, long term, long provenNanos) {
    /** A proof is good for so long. */
    static final Duration PROOF = Duration.ofSeconds(8);

    /** After so long nothing that a predecessor answered can still become a pod: its proof and a request's life. */
    static final Duration UNSEEN = Duration.ofSeconds(70);

    boolean holds(long nanos) {
        return nanos - provenNanos < PROOF.toNanos();
    }

    Tenure proven(long nanos) {
        return new Tenure(token, term, nanos);
    }
}
