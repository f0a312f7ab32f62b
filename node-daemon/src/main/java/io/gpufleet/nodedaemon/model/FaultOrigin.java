package io.gpufleet.nodedaemon.model;

/** Where a fault was seen. */
public enum FaultOrigin {
    /** An NVML event. */
    NVML_EVENT,
    /** The kernel log. */
    KERNEL_LOG,
    /** A poll. */
    POLL,
    /** The simulated source. */
    SIMULATION
}
