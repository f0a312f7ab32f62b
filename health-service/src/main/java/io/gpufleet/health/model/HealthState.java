package io.gpufleet.health.model;

/** The names of the states of a device, and of a node as a whole. */
public enum HealthState {
    /** Fit for work. */
    HEALTHY,
    /** Signs that are not enough to act on; of a node: something in it is not healthy. */
    SUSPECT,
    /** Must not get work. */
    UNHEALTHY,
    /** The cause is gone; on probation. */
    RECOVERING,
    /** Taken out by hand. */
    QUARANTINED,
    /** Never comes back. */
    RETIRED,
    /** Does not answer any more. */
    LOST
}
