package io.gpufleet.nodedaemon.model;

/** What the driver asks for (NVML field 230, in the order of its values 0 to 5). */
public enum RecoveryAction {
    /** Nothing. */
    NONE,
    /** Reset of the GPU. */
    GPU_RESET,
    /** Reboot of the node. */
    NODE_REBOOT,
    /** Drain of peer-to-peer work. */
    DRAIN_P2P,
    /** Drain, then reset. */
    DRAIN_AND_RESET,
    /** Recovery of the IMEX domain. */
    RECOVER_IMEX_DOMAIN,
    /** A value newer than this list. */
    UNKNOWN
}
