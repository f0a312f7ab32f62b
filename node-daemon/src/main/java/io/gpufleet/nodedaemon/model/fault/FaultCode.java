package io.gpufleet.nodedaemon.model.fault;

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
    record WithoutCode(Kind kind) implements FaultCode {}

    /** Faults without a code. */
    enum Kind {
        /** The handle no longer responds, or the device disappeared. */
        GPU_LOST,
        /** Uncorrectable ECC errors. */
        ECC_UNCORRECTABLE,
        /** Rows wait for a remap, or a remap failed. */
        ROW_REMAP,
        /** An NVLink is down or counts errors. */
        NVLINK,
        /** The PCIe link is degraded. */
        PCIE,
        /** Clocks throttled by heat or power brake. */
        THROTTLE,
        /** The InfoROM is corrupted. */
        INFOROM,
        /** An NVML call did not return. */
        NVML_HUNG,
        /** Waiting for events keeps failing. */
        EVENT_WAIT,
        /** The driver does not respond. */
        DRIVER,
        /** The fabric is not up. */
        FABRIC,
        /** The memory cannot be read. */
        MEMORY_UNREADABLE,
        /** The power draw of a board with a sensor cannot be read. */
        POWER_UNREADABLE,
        /** A GPU that the node had is gone from the PCI bus: a fault of the node. */
        GPU_MISSING
    }
}
