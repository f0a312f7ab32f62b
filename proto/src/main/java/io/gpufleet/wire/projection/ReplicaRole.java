package io.gpufleet.wire.projection;

/** Current role of a replica. */
public enum ReplicaRole {
    /** Reads its own changelog and has not caught up yet. */
    STARTING,
    /** Follows the changelog and serves reads. */
    STANDBY,
    /** Elected; fences the previous active replica and reads its changelog to the end. */
    TAKING_OVER,
    /** Applies inputs and acts. */
    ACTIVE,
    /** Stopped. */
    STOPPED
}
