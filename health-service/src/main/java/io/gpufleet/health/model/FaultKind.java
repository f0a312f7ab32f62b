package io.gpufleet.health.model;

/** What can be wrong with a device or a node; XID and SXID carry a code beside it. */
public enum FaultKind {
    /** A kind newer than this list. */
    UNKNOWN,
    /** The driver reported an XID. */
    XID,
    /** An NVSwitch reported an SXID. */
    SXID,
    /** The handle no longer answers, or the device vanished. */
    GPU_LOST,
    /** The driver asks for a recovery action. */
    RECOVERY_ACTION,
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
    /** Waiting for NVML events keeps failing. */
    EVENT_WAIT,
    /** The driver does not answer. */
    DRIVER,
    /** The NVLink fabric is not up. */
    FABRIC,
    /** Memory can not be read. */
    MEMORY_UNREADABLE,
    /** The power draw can not be read. */
    POWER_UNREADABLE
}
