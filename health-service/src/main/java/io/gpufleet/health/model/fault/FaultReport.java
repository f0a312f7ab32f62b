package io.gpufleet.health.model.fault;

/**
 * Report of a daemon that comes with a fault.
 *
 * @param action recovery action that the driver requests
 * @param withdrawal what the daemon did about it
 * @param subcode error that the kernel's line names, for example {@code NETIR_LINK_EVT}; empty for most faults
 */
public record FaultReport(RecoveryAction action, DaemonWithdrawal withdrawal, String subcode) {
    /** A report with nothing but the recovery action. */
    public static FaultReport of(RecoveryAction action) {
        return new FaultReport(action, DaemonWithdrawal.UNKNOWN, "");
    }
}
