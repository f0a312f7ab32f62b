package io.gpufleet.health.model.fault;

/** Recovery action that the driver requests after a fault (nvmlDeviceGetGpuRecoveryAction). */
public enum RecoveryAction {
    /** The driver returned no value. */
    UNSPECIFIED,
    /** Nothing. */
    NONE,
    /** Reset the GPU. */
    GPU_RESET,
    /** Reboot the node. */
    NODE_REBOOT,
    /** Drain peer-to-peer traffic. */
    DRAIN_P2P,
    /** Drain, then reset. */
    DRAIN_AND_RESET,
    /** Recover the IMEX domain. */
    RECOVER_IMEX_DOMAIN,
    /** An action that is newer than this list. */
    UNKNOWN,
    /** Reset the bus of the GPU. */
    BUS_RESET,
    /** Reboot the whole system. */
    SYSTEM_REBOOT
}
