package io.gpufleet.allocation.app.quota;

import java.time.Duration;

/** Receives how long each decided review took; every stage begins where the one before it ends. Called on any thread. */
@FunctionalInterface
public interface ReviewTimings {
    /** A part of the time between the receipt of a review and its decision. */
    enum Stage {
        /** From the first byte to the pod, read from its JSON. */
        RECEIVED_TO_READ,
        /** Until the thread of the decider takes it. */
        READ_TO_TAKEN,
        /** Until it is compared with the quotas. */
        TAKEN_TO_COMPARED,
        /** Until the escrow that it needs is written; nothing where it was written ahead. */
        COMPARED_TO_DECIDED
    }

    /** A review took so long; never negative. */
    void took(Stage stage, Duration time);
}
