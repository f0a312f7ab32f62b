package io.gpufleet.model.fault;

/**
 * Kinds of faults of a device or a node. The enum {@code FaultKind} of the wire has the same names; a kind is added to both.
 */
public enum FaultKind {
    /** A kind that this version does not know. */
    UNKNOWN,
    /** The driver reported an XID. */
    XID,
    /** An NVSwitch reported an SXID. */
    SXID,
    /** The handle no longer responds, or the device disappeared. */
    GPU_LOST,
    /** The driver requests a recovery action. */
    RECOVERY_ACTION,
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
    /** Waiting for NVML events keeps failing. */
    EVENT_WAIT,
    /** The driver does not respond: a fault of the node. */
    DRIVER,
    /** The NVLink fabric is not up. */
    FABRIC,
    /** The memory cannot be read. */
    MEMORY_UNREADABLE,
    /** The power draw of a board with a sensor cannot be read. */
    POWER_UNREADABLE,
    /** A GPU that the node had is gone from the PCI bus: a fault of the node. */
    GPU_MISSING;

    /** True for a kind that says everything; the others have a number or a recovery action, or are not known. */
    public boolean withoutCode() {
        return this != UNKNOWN && this != XID && this != SXID && this != RECOVERY_ACTION;
    }
}
