package io.gpufleet.nodedaemon.metrics;

import static io.gpufleet.nodedaemon.metrics.DcgmField.MetricKind.AMOUNT;
import static io.gpufleet.nodedaemon.metrics.DcgmField.MetricKind.COUNT;
import static io.gpufleet.nodedaemon.metrics.DcgmField.MetricKind.STATE;
import static io.gpufleet.nodedaemon.metrics.DcgmField.ofBoard;
import static io.gpufleet.nodedaemon.metrics.DcgmField.ofMetric;
import static io.gpufleet.nodedaemon.metrics.DcgmField.scaled;

import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.util.List;

/** The metrics of dcgm-exporter that NVML has a reading for, in dcgm-exporter's order. */
final class DcgmFields {
    private static final double MIB = 1 << 20;
    private static final double THOUSAND_KIB = 1000 << 10;

    /** The metrics. A GPU without a reading has no sample. */
    static final List<DcgmField> ALL = List.of(
            ofBoard(
                    "DCGM_FI_DEV_SM_CLOCK",
                    STATE,
                    "SM clock frequency (in MHz).",
                    sample -> sample.device().clocks().smMhz()),
            ofBoard(
                    "DCGM_FI_DEV_MEM_CLOCK",
                    STATE,
                    "Memory clock frequency (in MHz).",
                    sample -> sample.device().clocks().memoryMhz()),
            ofMetric(
                    "DCGM_FI_DEV_MEMORY_TEMP",
                    STATE,
                    "Temperature of the memory (in C).",
                    GpuMetric.MEMORY_TEMPERATURE_CELSIUS),
            ofBoard(
                    "DCGM_FI_DEV_GPU_TEMP",
                    STATE,
                    "Temperature of the GPU (in C).",
                    sample -> sample.device().temperatureCelsius()),
            ofBoard(
                    "DCGM_FI_DEV_POWER_USAGE",
                    AMOUNT,
                    "Power draw (in W).",
                    sample -> sample.device().power().milliwatts().map(milliwatts -> milliwatts / 1000.0)),
            ofBoard(
                    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
                    COUNT,
                    "Energy used since the driver was loaded (in mJ).",
                    sample -> sample.device().power().energyMillijoules()),
            ofBoard(
                    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
                    COUNT,
                    "PCIe retries.",
                    sample -> sample.device().pcieReplays()),
            ofBoard(
                    "DCGM_FI_DEV_GPU_UTIL",
                    STATE,
                    "Time in which the GPU was busy (in %).",
                    sample -> sample.device().utilization().gpu()),
            ofBoard(
                    "DCGM_FI_DEV_MEM_COPY_UTIL",
                    STATE,
                    "Time in which the memory was busy (in %).",
                    sample -> sample.device().utilization().memory()),
            ofMetric("DCGM_FI_DEV_ENC_UTIL", STATE, "Encoders in use (in %).", GpuMetric.ENCODER_UTILIZATION_PERCENT),
            ofMetric("DCGM_FI_DEV_DEC_UTIL", STATE, "Decoders in use (in %).", GpuMetric.DECODER_UTILIZATION_PERCENT),
            scaled("DCGM_FI_DEV_FB_TOTAL", AMOUNT, "Total memory (in MiB).", GpuMetric.MEMORY_TOTAL_BYTES, MIB),
            scaled("DCGM_FI_DEV_FB_FREE", AMOUNT, "Memory free (in MiB).", GpuMetric.MEMORY_FREE_BYTES, MIB),
            scaled("DCGM_FI_DEV_FB_USED", AMOUNT, "Memory in use (in MiB).", GpuMetric.MEMORY_USED_BYTES, MIB)
                    .withBoardReading(DcgmFields::usedMib),
            scaled(
                    "DCGM_FI_DEV_FB_RESERVED",
                    AMOUNT,
                    "Memory reserved by the driver (in MiB).",
                    GpuMetric.MEMORY_RESERVED_BYTES,
                    MIB),
            scaled(
                    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
                    COUNT,
                    "Data over all NVLinks, both directions (in thousands of KiB per second, a rate as in DCGM).",
                    GpuMetric.NVLINK_BYTES_PER_SECOND,
                    THOUSAND_KIB),
            ofMetric(
                    "DCGM_FI_DEV_VGPU_LICENSE_STATUS",
                    STATE,
                    "vGPU licence: 1 licensed, 0 not.",
                    GpuMetric.VGPU_LICENSE_STATUS),
            ofMetric(
                    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
                    COUNT,
                    "Rows remapped after uncorrectable errors.",
                    GpuMetric.ROWS_REMAPPED_UNCORRECTABLE),
            ofMetric(
                    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
                    COUNT,
                    "Rows remapped after correctable errors.",
                    GpuMetric.ROWS_REMAPPED_CORRECTABLE),
            ofMetric(
                    "DCGM_FI_DEV_ROW_REMAP_FAILURE", STATE, "1 after a row remap failed.", GpuMetric.ROW_REMAP_FAILURE),
            ofBoard(
                    "DCGM_FI_DEV_ROW_REMAP_PENDING",
                    STATE,
                    "1 while a row remap is pending.",
                    sample -> bit(sample.health().rowRemapping().pending())),
            ofMetric(
                    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
                    STATE,
                    "Time in which a graphics or compute engine was busy (ratio).",
                    GpuMetric.ENGINE_ACTIVE_RATIO),
            ofMetric(
                    "DCGM_FI_PROF_SM_ACTIVE",
                    STATE,
                    "Time in which an SM was busy (ratio).",
                    GpuMetric.SM_ACTIVE_RATIO),
            ofMetric(
                    "DCGM_FI_PROF_SM_OCCUPANCY",
                    STATE,
                    "Resident warps of the maximum (ratio).",
                    GpuMetric.SM_OCCUPANCY_RATIO),
            ofMetric(
                    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
                    STATE,
                    "Time in which the tensor pipes were busy (ratio).",
                    GpuMetric.TENSOR_ACTIVE_RATIO),
            ofMetric(
                    "DCGM_FI_PROF_DRAM_ACTIVE",
                    STATE,
                    "Time in which the memory interface was busy (ratio).",
                    GpuMetric.DRAM_ACTIVE_RATIO),
            ofMetric(
                    "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
                    STATE,
                    "Time in which the FP64 pipes were busy (ratio).",
                    GpuMetric.FP64_ACTIVE_RATIO),
            ofMetric(
                    "DCGM_FI_PROF_PIPE_FP32_ACTIVE",
                    STATE,
                    "Time in which the FP32 pipes were busy (ratio).",
                    GpuMetric.FP32_ACTIVE_RATIO),
            ofMetric(
                    "DCGM_FI_PROF_PIPE_FP16_ACTIVE",
                    STATE,
                    "Time in which the FP16 pipes were busy (ratio).",
                    GpuMetric.FP16_ACTIVE_RATIO),
            ofMetric(
                    "DCGM_FI_PROF_PCIE_TX_BYTES",
                    AMOUNT,
                    "Sent over PCIe, headers and payload (in bytes per second).",
                    GpuMetric.PCIE_SENT_BYTES_PER_SECOND),
            ofMetric(
                    "DCGM_FI_PROF_PCIE_RX_BYTES",
                    AMOUNT,
                    "Received over PCIe, headers and payload (in bytes per second).",
                    GpuMetric.PCIE_RECEIVED_BYTES_PER_SECOND),
            ofMetric(
                    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
                    COUNT,
                    "Single-bit errors since the driver was loaded.",
                    GpuMetric.ECC_SINGLE_VOLATILE),
            ofMetric(
                    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
                    COUNT,
                    "Double-bit errors since the driver was loaded.",
                    GpuMetric.ECC_DOUBLE_VOLATILE),
            ofMetric(
                    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
                    COUNT,
                    "Single-bit errors over the lifetime of the GPU.",
                    GpuMetric.ECC_SINGLE_AGGREGATE),
            ofMetric(
                    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
                    COUNT,
                    "Double-bit errors over the lifetime of the GPU.",
                    GpuMetric.ECC_DOUBLE_AGGREGATE),
            ofMetric(
                    "DCGM_FI_DEV_RETIRED_SBE",
                    COUNT,
                    "Pages retired because of single-bit errors.",
                    GpuMetric.PAGES_RETIRED_SINGLE),
            ofMetric(
                    "DCGM_FI_DEV_RETIRED_DBE",
                    COUNT,
                    "Pages retired because of double-bit errors.",
                    GpuMetric.PAGES_RETIRED_DOUBLE),
            ofBoard(
                    "DCGM_FI_DEV_RETIRED_PENDING",
                    STATE,
                    "1 while a page retirement is pending.",
                    sample -> bit(sample.health().retirementPending())),
            ofMetric(
                    "DCGM_FI_DEV_POWER_VIOLATION",
                    COUNT,
                    "Time throttled by the power limit (in ns).",
                    GpuMetric.POWER_VIOLATION_NANOS),
            ofMetric(
                    "DCGM_FI_DEV_THERMAL_VIOLATION",
                    COUNT,
                    "Time throttled by temperature (in ns).",
                    GpuMetric.THERMAL_VIOLATION_NANOS));

    private DcgmFields() {}

    private static Reading<Double> usedMib(GpuSample sample) {
        return sample.device().memoryUsedBytes().map(bytes -> bytes / MIB);
    }

    private static Reading<Integer> bit(Reading<Boolean> reading) {
        return reading.map(yes -> yes ? 1 : 0);
    }
}
