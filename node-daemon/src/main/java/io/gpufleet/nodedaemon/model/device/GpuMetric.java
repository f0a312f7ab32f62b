package io.gpufleet.nodedaemon.model.device;

/** A metric of a GPU or a MIG instance beside those of {@link DeviceSample}; the name ends in its unit. */
public enum GpuMetric {
    /** Temperature of the memory. */
    MEMORY_TEMPERATURE_CELSIUS,
    /** Total memory. */
    MEMORY_TOTAL_BYTES,
    /** Memory in use of a MIG instance; that of a GPU is in {@link DeviceSample}. */
    MEMORY_USED_BYTES,
    /** Free memory. */
    MEMORY_FREE_BYTES,
    /** Memory that the driver reserves. */
    MEMORY_RESERVED_BYTES,
    /** Encoder utilization, 0 to 100. */
    ENCODER_UTILIZATION_PERCENT,
    /** Decoder utilization, 0 to 100. */
    DECODER_UTILIZATION_PERCENT,
    /** Data over all NVLinks, both directions, since the driver was loaded. */
    NVLINK_BYTES_TOTAL,
    /** Data over all NVLinks, both directions, since the sample before. */
    NVLINK_BYTES_PER_SECOND,
    /** Rows remapped after uncorrectable errors. */
    ROWS_REMAPPED_UNCORRECTABLE,
    /** Rows remapped after correctable errors. */
    ROWS_REMAPPED_CORRECTABLE,
    /** 1 after a row could not be remapped. */
    ROW_REMAP_FAILURE,
    /** vGPU licence status; 0 where no licence is needed. */
    VGPU_LICENSE_STATUS,
    /** Time in which a graphics or compute engine was busy, 0 to 1 (GPM 1). */
    ENGINE_ACTIVE_RATIO,
    /** Time in which an SM was busy, 0 to 1 (GPM 2). */
    SM_ACTIVE_RATIO,
    /** Resident warps relative to the maximum, 0 to 1 (GPM 3). */
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
    /** PCIe throughput sent. */
    PCIE_SENT_BYTES_PER_SECOND,
    /** PCIe throughput received. */
    PCIE_RECEIVED_BYTES_PER_SECOND,
    /** Single-bit errors since the driver was loaded (field 3). */
    ECC_SINGLE_VOLATILE,
    /** Double-bit errors since the driver was loaded (field 4). */
    ECC_DOUBLE_VOLATILE,
    /** Single-bit errors over the board's lifetime (field 5). */
    ECC_SINGLE_AGGREGATE,
    /** Double-bit errors over the board's lifetime (field 6). */
    ECC_DOUBLE_AGGREGATE,
    /** Pages retired because of single-bit errors (field 29). */
    PAGES_RETIRED_SINGLE,
    /** Pages retired because of double-bit errors (field 30). */
    PAGES_RETIRED_DOUBLE,
    /** Time throttled by the power limit (perf policy 0). */
    POWER_VIOLATION_NANOS,
    /** Time throttled by heat (perf policy 1). */
    THERMAL_VIOLATION_NANOS
}
