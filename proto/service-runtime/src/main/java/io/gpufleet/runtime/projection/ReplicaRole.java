package io.gpufleet.runtime.projection;

/** Role of a replica. */
public enum ReplicaRole {
    /** Reads its own changelog. */
    STARTING,
    /** Follows the changelog and serves reads. */
    STANDBY,
    /** Elected: folds inputs, and waits until no older leader can act any more. */
    TAKING_OVER,
    /** Folds inputs and acts. */
    ACTIVE,
    /** Stopped. */
    STOPPED
}
