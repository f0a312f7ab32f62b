package io.gpufleet.cli.drill;

import java.util.Optional;

/** A disturbance that has begun. */
interface Ongoing {
    /** Ends it: whatever was stopped or taken away is there again. */
    void end();

    /** A sentence of its own that must hold once it has ended, and what speaks against it; most have none. */
    default Optional<Outcome> outcome() {
        return Optional.empty();
    }

    /**
     * Findings of the disturbance itself.
     *
     * @param sentence what must hold
     * @param objection what speaks against it; empty where it holds
     */
    record Outcome(String sentence, String objection) {}
}
