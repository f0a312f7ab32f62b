package io.gpufleet.health.model.device;

/** States of a device, and of a node as a whole. */
public enum HealthState {
    /** In service. */
    HEALTHY,
    /** Faults that do not withdraw it; for a node: a device or the node itself is not healthy. */
    SUSPECT,
    /** Out of service because of a fault. */
    UNHEALTHY,
    /** The fault is cleared; still out of service for the recovery dwell. */
    RECOVERING,
    /** Taken out of service by an operator. */
    QUARANTINED,
    /** Taken out of service for good. */
    RETIRED,
    /** Does not answer. */
    LOST
}
