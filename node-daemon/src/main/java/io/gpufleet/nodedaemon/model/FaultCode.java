package io.gpufleet.nodedaemon.model;

/** What is wrong, without the device. */
public sealed interface FaultCode {
    /** The driver reported an XID. */
    record Xid(int code) implements FaultCode {}

    /** An NVSwitch reported an SXID. */
    record Sxid(int code) implements FaultCode {}

    /** The driver asks for a recovery action other than NONE. */
    record RecoveryAsked(RecoveryAction action) implements FaultCode {}

    /** A fault without a code. */
    record Plain(Kind kind) implements FaultCode {}

    /** Faults without a code. */
    enum Kind {
        /** The handle no longer answers, or the device vanished. */
        GPU_LOST,
        /** Uncorrectable ECC errors. */
        ECC_UNCORRECTABLE,
        /** Rows wait for a remap, or a remap failed. */
        ROW_REMAP,
        /** An NVLink is down or counts errors. */
        NVLINK,
        /** The PCIe link is degraded. */
        PCIE,
        /** Heat or power brake. */
        THROTTLE,
        /** The InfoROM is corrupted. */
        INFOROM,
        /** An NVML call did not come back. */
        NVML_HUNG,
        /** Waiting for events keeps failing. */
        EVENT_WAIT,
        /** The driver does not answer. */
        DRIVER,
        /** The fabric is not up. */
        FABRIC,
        /** Memory can not be read. */
        MEMORY_UNREADABLE,
        /** The power draw can not be read, on a board that has a sensor. */
        POWER_UNREADABLE
    }
}
