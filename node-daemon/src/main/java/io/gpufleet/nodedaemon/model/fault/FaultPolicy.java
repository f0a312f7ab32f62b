package io.gpufleet.nodedaemon.model.fault;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.util.Set;

/**
 * The local policy: which faults withdraw a device. Kept small on purpose, since it protects pods also while no health-service
 * is reachable; thresholds and rates belong to the health-service.
 *
 * @param withdrawingXids XIDs whose immediate action is a reset, a reboot or work on the hardware
 * @param recoveryDwell how long the cause must stay resolved before the device is offered again
 * @param overrides an operator's settings for single XIDs
 */
public record FaultPolicy(Set<Integer> withdrawingXids, Duration recoveryDwell, XidOverrides overrides) {
    /** Copies the set. */
    public FaultPolicy {
        withdrawingXids = Set.copyOf(withdrawingXids);
    }

    /** Returns the same policy with other overrides. */
    public FaultPolicy with(XidOverrides others) {
        return new FaultPolicy(withdrawingXids, recoveryDwell, others);
    }

    /** Decides about a device with this fault; the subcode's repair need outweighs the XID, and the node's settings both. */
    public WithdrawalDecision decide(FaultCode fault, XidSubcode subcode) {
        return new WithdrawalDecision(withdraws(fault, subcode), rule(fault, subcode));
    }

    private WithdrawalDecision.Rule rule(FaultCode fault, XidSubcode subcode) {
        return switch (fault) {
            case FaultCode.Xid(int code) when overrides.concern(code) -> WithdrawalDecision.Rule.NODE_SETTINGS;
            case FaultCode.Xid _
            when subcode.need() != XidSubcode.RepairNeed.UNSPECIFIED -> WithdrawalDecision.Rule.SUBCODE;
            case FaultCode.RecoveryRequested _ -> WithdrawalDecision.Rule.RECOVERY_ACTION;
            case FaultCode.Xid _, FaultCode.Sxid _, FaultCode.WithoutCode _ -> WithdrawalDecision.Rule.KIND;
        };
    }

    private boolean withdraws(FaultCode fault, XidSubcode subcode) {
        return switch (fault) {
            case FaultCode.Xid(int code) ->
                overrides.withdraws(
                        code,
                        switch (subcode.need()) {
                            case UNSPECIFIED -> withdrawingXids.contains(code);
                            case NOTHING -> false;
                            case REPAIR -> true;
                        });
            case FaultCode.Sxid _ -> false;
            case FaultCode.RecoveryRequested(RecoveryAction action) -> action.requiresWithdrawal();
            case FaultCode.WithoutCode(FaultKind kind) ->
                switch (kind) {
                    case GPU_LOST, NVML_HUNG, MEMORY_UNREADABLE -> true;
                    // A failed scan withdraws every device by itself, see OfferedDevices.
                    case DRIVER,
                            ECC_UNCORRECTABLE,
                            ROW_REMAP,
                            NVLINK,
                            PCIE,
                            THROTTLE,
                            INFOROM,
                            EVENT_WAIT,
                            FABRIC,
                            GPU_MISSING,
                            POWER_UNREADABLE -> false;
                    case UNKNOWN, XID, SXID, RECOVERY_ACTION ->
                        throw new IllegalArgumentException(kind + " has a code or is not known");
                };
        };
    }

    /** How long the cause of this fault must stay resolved before the fault is closed. */
    public Duration dwell(FaultCode fault) {
        return switch (fault) {
            // The driver responds again or does not: there is nothing to wait for.
            case FaultCode.WithoutCode(FaultKind kind)
            when kind == FaultKind.DRIVER || kind == FaultKind.EVENT_WAIT || kind == FaultKind.GPU_MISSING ->
                Duration.ZERO;
            case FaultCode.WithoutCode _, FaultCode.Xid _, FaultCode.Sxid _, FaultCode.RecoveryRequested _ ->
                recoveryDwell;
        };
    }
}
