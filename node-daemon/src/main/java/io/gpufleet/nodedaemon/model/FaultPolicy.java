package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.util.Set;

/**
 * What a fault means for the kubelet. Kept small on purpose: a node protects its pods with it when nobody else answers;
 * thresholds and rates are for the centre.
 *
 * @param withdrawingXids XIDs whose immediate action is a reset, a reboot or work on the hardware
 * @param recoveryDwell how long the cause must be gone, and quiet, before a device comes back
 * @param overrides what an operator says about single XIDs
 */
public record FaultPolicy(Set<Integer> withdrawingXids, Duration recoveryDwell, XidOverrides overrides) {
    /** Copies the set. */
    public FaultPolicy {
        withdrawingXids = Set.copyOf(withdrawingXids);
    }

    /** The same with other words of the operator. */
    public FaultPolicy with(XidOverrides others) {
        return new FaultPolicy(withdrawingXids, recoveryDwell, others);
    }

    /** Whether a device with this fault must not be handed out; what a subcode asks for counts more than its XID. */
    public boolean withdraws(FaultCode fault, Subcode subcode) {
        return switch (fault) {
            case FaultCode.Xid(int code) ->
                overrides.withdraws(
                        code,
                        switch (subcode.need()) {
                            case UNSAID -> withdrawingXids.contains(code);
                            case NOTHING -> false;
                            case REPAIR -> true;
                        });
            case FaultCode.Sxid _ -> false;
            case FaultCode.RecoveryAsked(RecoveryAction action) -> action.makesUnfit();
            case FaultCode.Plain(FaultCode.Kind kind) ->
                switch (kind) {
                    case GPU_LOST, NVML_HUNG, MEMORY_UNREADABLE -> true;
                    // A blind driver withdraws every device by itself, see Offers.
                    case DRIVER,
                            ECC_UNCORRECTABLE,
                            ROW_REMAP,
                            NVLINK,
                            PCIE,
                            THROTTLE,
                            INFOROM,
                            EVENT_WAIT,
                            FABRIC,
                            POWER_UNREADABLE -> false;
                };
        };
    }

    /** How long this fault has to be gone before it is proven gone. */
    public Duration dwell(FaultCode fault) {
        return switch (fault) {
            // The driver answers again or it does not: there is nothing to wait for.
            case FaultCode.Plain(FaultCode.Kind kind)
            when kind == FaultCode.Kind.DRIVER || kind == FaultCode.Kind.EVENT_WAIT -> Duration.ZERO;
            case FaultCode.Plain _, FaultCode.Xid _, FaultCode.Sxid _, FaultCode.RecoveryAsked _ -> recoveryDwell;
        };
    }
}
