package io.gpufleet.nodedaemon.model;

/** A quantity that a GPU or a MIG instance can be asked for, beside those of {@link Vitals}; the unit is in its name. */
public enum Meter {
    /** Temperature of the memory. */
    MEMORY_TEMPERATURE_CELSIUS,
    /** Memory in all. */
    MEMORY_TOTAL_BYTES,
    /** Memory in use. */
    MEMORY_USED_BYTES,
    /** Memory that can be had. */
    MEMORY_FREE_BYTES,
    /** Memory that the driver keeps for itself. */
    MEMORY_RESERVED_BYTES,
    /** Encoders in use, 0 to 100. */
    ENCODER_UTILIZATION_PERCENT,
    /** Decoders in use, 0 to 100. */
    DECODER_UTILIZATION_PERCENT,
    /** Data over all NVLinks, both directions, since the driver was loaded. */
    NVLINK_BYTES_TOTAL,
    /** Rows remapped after uncorrectable errors. */
    ROWS_REMAPPED_UNCORRECTABLE,
    /** Rows remapped after correctable errors. */
    ROWS_REMAPPED_CORRECTABLE,
    /** 1 after a row could not be remapped. */
    ROW_REMAP_FAILURE,
    /** vGPU licence: 0 where there is none to have. */
    VGPU_LICENSE_STATUS,
    /** Time in which a graphics or compute engine was busy, 0 to 1 (GPM 1). */
    ENGINE_ACTIVE_RATIO,
    /** Time in which an SM was busy, 0 to 1 (GPM 2). */
    SM_ACTIVE_RATIO,
    /** Warps resident of those possible, 0 to 1 (GPM 3). */
    SM_OCCUPANCY_RATIO,
    /** Time in which the tensor pipes were busy, 0 to 1 (GPM 5). */
    TENSOR_ACTIVE_RATIO,
    /** Time in which the memory was busy, 0 to 1 (GPM 10). */
    DRAM_ACTIVE_RATIO,
    /** Time in which the FP64 pipes were busy, 0 to 1 (GPM 11). */
    FP64_ACTIVE_RATIO,
    /** Time in which the FP32 pipes were busy, 0 to 1 (GPM 12). */
    FP32_ACTIVE_RATIO,
    /** Time in which the FP16 pipes were busy, 0 to 1 (GPM 13). */
    FP16_ACTIVE_RATIO,
    /** Sent over PCIe. */
    PCIE_SENT_BYTES_PER_SECOND,
    /** Received over PCIe. */
    PCIE_RECEIVED_BYTES_PER_SECOND,
    /** Single-bit errors since the driver was loaded (field 3). */
    ECC_SINGLE_VOLATILE,
    /** Double-bit errors since the driver was loaded (field 4). */
    ECC_DOUBLE_VOLATILE,
    /** Single-bit errors of the board's life (field 5). */
    ECC_SINGLE_AGGREGATE,
    /** Double-bit errors of the board's life (field 6). */
    ECC_DOUBLE_AGGREGATE,
    /** Pages retired because of single-bit errors (field 29). */
    PAGES_RETIRED_SINGLE,
    /** Pages retired because of double-bit errors (field 30). */
    PAGES_RETIRED_DOUBLE,
    /** Time held back by the power limit (perf policy 0). */
    POWER_VIOLATION_NANOS,
    /** Time held back by heat (perf policy 1). */
    THERMAL_VIOLATION_NANOS
}
