package io.gpufleet.nodedaemon.model.fault;

/** The source that reported a fault. */
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
