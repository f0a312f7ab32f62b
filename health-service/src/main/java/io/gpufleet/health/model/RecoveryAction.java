package io.gpufleet.health.model;

/** What the driver asks for after a fault. */
public enum RecoveryAction {
    /** It could not be asked, or the answer is newer than this list. */
    UNKNOWN,
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
    RECOVER_IMEX_DOMAIN
}
