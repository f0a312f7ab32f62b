package io.gpufleet.runtime.simulation;

/** A defect of the engine, planted to show that a simulation finds it. */
public enum PlantedDefect {
    /** The engine as it is. */
    NONE,
    /** The lease is counted from the end of a commit, not from its beginning. */
    LEASE_FROM_COMMIT_END,
    /** The offsets are committed in a transaction of their own, after the one with what they caused. */
    OFFSETS_OUTSIDE_TRANSACTION
}
