package io.gpufleet.nodedaemon.model.fault;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;

/** The code of a fault, without its device. */
public sealed interface FaultCode {
    /** The driver reported an XID. */
    record Xid(int code) implements FaultCode {}

    /** An NVSwitch reported an SXID. */
    record Sxid(int code) implements FaultCode {}

    /** The driver's recovery action is other than NONE. */
    record RecoveryRequested(RecoveryAction action) implements FaultCode {}

    /** A fault without a code. */
    record WithoutCode(FaultKind kind) implements FaultCode {
        /** Rejects kinds that have a code. */
        public WithoutCode {
            if (!kind.withoutCode()) {
                throw new IllegalArgumentException(kind + " is no kind of fault without a code");
            }
        }
    }

    /** The kind of the fault. */
    default FaultKind kind() {
        return switch (this) {
            case Xid _ -> FaultKind.XID;
            case Sxid _ -> FaultKind.SXID;
            case RecoveryRequested _ -> FaultKind.RECOVERY_ACTION;
            case WithoutCode(FaultKind kind) -> kind;
        };
    }
}
