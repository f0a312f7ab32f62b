package io.gpufleet.health.model.fault;

/** Kinds of faults of a device or a node; XID and SXID also have a number. */
public enum FaultKind {
    /** A kind that this version does not know. */
    UNKNOWN,
    /** The driver reported an XID. */
    XID,
    /** An NVSwitch reported an SXID. */
    SXID,
    /** The device does not answer, or is no longer found. */
    GPU_LOST,
    /** The driver requests a recovery action. */
    RECOVERY_ACTION,
    /** Uncorrectable ECC errors. */
    ECC_UNCORRECTABLE,
    /** A row remap is pending or failed. */
    ROW_REMAP,
    /** An NVLink is down or reports errors. */
    NVLINK,
    /** The PCIe link is degraded. */
    PCIE,
    /** Thermal or power-brake slowdown. */
    THROTTLE,
    /** The InfoROM is corrupted. */
    INFOROM,
    /** An NVML call did not return. */
    NVML_HUNG,
    /** Waiting for NVML events keeps failing. */
    EVENT_WAIT,
    /** The driver does not answer. */
    DRIVER,
    /** The NVLink fabric is not up. */
    FABRIC,
    /** Memory usage cannot be read. */
    MEMORY_UNREADABLE,
    /** Power usage cannot be read. */
    POWER_UNREADABLE,
    /** GPUs that the node had are gone from the PCI bus. */
    GPU_MISSING
}
