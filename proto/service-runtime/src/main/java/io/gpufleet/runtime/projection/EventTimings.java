package io.gpufleet.runtime.projection;

import io.gpufleet.wire.Topic;
import java.time.Duration;

/** Receives how long each committed event took; every hop begins where the one before it ends. Called by one thread. */
public interface EventTimings {
    /** A part of an event's way to the log of decisions. */
    enum Hop {
        /** From the observation, by the writer's clock, to the append by the broker. */
        NOTICED_TO_APPENDED,
        /** From the append to its effect on the state in memory, by the broker's clock. */
        APPENDED_TO_FOLDED,
        /** From there to the end of the transaction that holds the effect. */
        FOLDED_TO_COMMITTED
    }

    /** An event of this topic took so long; never negative. */
    void took(Topic topic, Hop hop, Duration time);
}
