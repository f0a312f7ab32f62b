package io.gpufleet.nodedaemon.model.device;

/** The driver's GPU recovery action (NVML field 230, in the order of its values 0 to 7). */
public enum RecoveryAction {
    /** No action. */
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
    /** Reset of the bus of the GPU. */
    BUS_RESET,
    /** Reboot of the whole system. */
    SYSTEM_REBOOT,
    /** A value newer than this list. */
    UNKNOWN;

    /**
     * Whether a GPU with this action must not be allocated. An IMEX domain is software between nodes, and one without work may
     * report a problem for days; an unknown action withdraws.
     */
    public boolean requiresWithdrawal() {
        return switch (this) {
            case NONE, RECOVER_IMEX_DOMAIN -> false;
            case GPU_RESET, NODE_REBOOT, DRAIN_P2P, DRAIN_AND_RESET, BUS_RESET, SYSTEM_REBOOT, UNKNOWN -> true;
        };
    }
}
