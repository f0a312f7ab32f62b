package io.gpufleet.wire.fold;

/** What a replica does now. */
public enum Role {
    /** Not caught up with its own changelog yet. */
    STARTING,
    /** Follows the changelog and serves reads. */
    STANDBY,
    /** Elected; fences the old one and reads its changelog to the end. */
    TAKING_OVER,
    /** Folds inputs and acts. */
    ACTIVE,
    /** Stopped. */
    STOPPED
}
