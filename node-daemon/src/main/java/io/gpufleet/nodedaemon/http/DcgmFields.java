package io.gpufleet.nodedaemon.http;

import static io.gpufleet.nodedaemon.http.DcgmField.Kind.AMOUNT;
import static io.gpufleet.nodedaemon.http.DcgmField.Kind.COUNT;
import static io.gpufleet.nodedaemon.http.DcgmField.Kind.STATE;
import static io.gpufleet.nodedaemon.http.DcgmField.ofBoard;
import static io.gpufleet.nodedaemon.http.DcgmField.ofMeter;
import static io.gpufleet.nodedaemon.http.DcgmField.scaled;

import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.List;

/** Every metric of dcgm-exporter that plain NVML has a reading for, in the order of its own list. */
final class DcgmFields {
    private static final double MIB = 1 << 20;
    private static final double KIB = 1 << 10;

    /** The metrics. Where a GPU has no reading for one, it has no sample of it. */
    static final List<DcgmField> ALL = List.of(
            ofBoard("DCGM_FI_DEV_SM_CLOCK", STATE, "SM clock frequency (in MHz).", Vitals::smClockMhz),
            ofBoard("DCGM_FI_DEV_MEM_CLOCK", STATE, "Memory clock frequency (in MHz).", Vitals::memoryClockMhz),
            ofMeter(
                    "DCGM_FI_DEV_MEMORY_TEMP",
                    STATE,
                    "Temperature of the memory (in C).",
                    Meter.MEMORY_TEMPERATURE_CELSIUS),
            ofBoard("DCGM_FI_DEV_GPU_TEMP", STATE, "Temperature of the GPU (in C).", Vitals::temperatureCelsius),
            ofBoard(
                    "DCGM_FI_DEV_POWER_USAGE",
                    AMOUNT,
                    "Power draw (in W).",
                    vitals -> vitals.powerMilliwatts().map(milliwatts -> milliwatts / 1000.0)),
            ofBoard(
                    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
                    COUNT,
                    "Energy used since the driver was loaded (in mJ).",
                    Vitals::energyMillijoules),
            ofBoard("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", COUNT, "PCIe retries.", Vitals::pcieReplays),
            ofBoard(
                    "DCGM_FI_DEV_GPU_UTIL",
                    STATE,
                    "Time in which the GPU was busy (in %).",
                    Vitals::gpuUtilizationPercent),
            ofBoard(
                    "DCGM_FI_DEV_MEM_COPY_UTIL",
                    STATE,
                    "Time in which the memory was busy (in %).",
                    Vitals::memoryUtilizationPercent),
            ofMeter("DCGM_FI_DEV_ENC_UTIL", STATE, "Encoders in use (in %).", Meter.ENCODER_UTILIZATION_PERCENT),
            ofMeter("DCGM_FI_DEV_DEC_UTIL", STATE, "Decoders in use (in %).", Meter.DECODER_UTILIZATION_PERCENT),
            scaled("DCGM_FI_DEV_FB_TOTAL", AMOUNT, "Memory in all (in MiB).", Meter.MEMORY_TOTAL_BYTES, MIB),
            scaled("DCGM_FI_DEV_FB_FREE", AMOUNT, "Memory free (in MiB).", Meter.MEMORY_FREE_BYTES, MIB),
            scaled("DCGM_FI_DEV_FB_USED", AMOUNT, "Memory in use (in MiB).", Meter.MEMORY_USED_BYTES, MIB)
                    .asked(DcgmFields::usedMib),
            scaled(
                    "DCGM_FI_DEV_FB_RESERVED",
                    AMOUNT,
                    "Memory that the driver keeps for itself (in MiB).",
                    Meter.MEMORY_RESERVED_BYTES,
                    MIB),
            scaled(
                    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
                    COUNT,
                    "Data over all NVLinks, both directions (in KiB).",
                    Meter.NVLINK_BYTES_TOTAL,
                    KIB),
            ofMeter(
                    "DCGM_FI_DEV_VGPU_LICENSE_STATUS",
                    STATE,
                    "vGPU licence: 1 licensed, 0 not.",
                    Meter.VGPU_LICENSE_STATUS),
            ofMeter(
                    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
                    COUNT,
                    "Rows remapped after uncorrectable errors.",
                    Meter.ROWS_REMAPPED_UNCORRECTABLE),
            ofMeter(
                    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
                    COUNT,
                    "Rows remapped after correctable errors.",
                    Meter.ROWS_REMAPPED_CORRECTABLE),
            ofMeter(
                    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
                    STATE,
                    "1 after a row could not be remapped.",
                    Meter.ROW_REMAP_FAILURE),
            ofBoard(
                    "DCGM_FI_DEV_ROW_REMAP_PENDING",
                    STATE,
                    "1 while rows wait for a remap.",
                    vitals -> bit(vitals.conditions().remapPending())),
            ofMeter(
                    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
                    STATE,
                    "Time in which a graphics or compute engine was busy (ratio).",
                    Meter.ENGINE_ACTIVE_RATIO),
            ofMeter("DCGM_FI_PROF_SM_ACTIVE", STATE, "Time in which an SM was busy (ratio).", Meter.SM_ACTIVE_RATIO),
            ofMeter(
                    "DCGM_FI_PROF_SM_OCCUPANCY",
                    STATE,
                    "Warps resident of those possible (ratio).",
                    Meter.SM_OCCUPANCY_RATIO),
            ofMeter(
                    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
                    STATE,
                    "Time in which the tensor pipes were busy (ratio).",
                    Meter.TENSOR_ACTIVE_RATIO),
            ofMeter(
                    "DCGM_FI_PROF_DRAM_ACTIVE",
                    STATE,
                    "Time in which the memory interface was busy (ratio).",
                    Meter.DRAM_ACTIVE_RATIO),
            ofMeter(
                    "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
                    STATE,
                    "Time in which the FP64 pipes were busy (ratio).",
                    Meter.FP64_ACTIVE_RATIO),
            ofMeter(
                    "DCGM_FI_PROF_PIPE_FP32_ACTIVE",
                    STATE,
                    "Time in which the FP32 pipes were busy (ratio).",
                    Meter.FP32_ACTIVE_RATIO),
            ofMeter(
                    "DCGM_FI_PROF_PIPE_FP16_ACTIVE",
                    STATE,
                    "Time in which the FP16 pipes were busy (ratio).",
                    Meter.FP16_ACTIVE_RATIO),
            ofMeter(
                    "DCGM_FI_PROF_PCIE_TX_BYTES",
                    AMOUNT,
                    "Sent over PCIe, headers and payload (in bytes per second).",
                    Meter.PCIE_SENT_BYTES_PER_SECOND),
            ofMeter(
                    "DCGM_FI_PROF_PCIE_RX_BYTES",
                    AMOUNT,
                    "Received over PCIe, headers and payload (in bytes per second).",
                    Meter.PCIE_RECEIVED_BYTES_PER_SECOND),
            ofMeter(
                    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
                    COUNT,
                    "Single-bit errors since the driver was loaded.",
                    Meter.ECC_SINGLE_VOLATILE),
            ofMeter(
                    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
                    COUNT,
                    "Double-bit errors since the driver was loaded.",
                    Meter.ECC_DOUBLE_VOLATILE),
            ofMeter(
                    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
                    COUNT,
                    "Single-bit errors of the board's life.",
                    Meter.ECC_SINGLE_AGGREGATE),
            ofMeter(
                    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
                    COUNT,
                    "Double-bit errors of the board's life.",
                    Meter.ECC_DOUBLE_AGGREGATE),
            ofMeter(
                    "DCGM_FI_DEV_RETIRED_SBE",
                    COUNT,
                    "Pages retired because of single-bit errors.",
                    Meter.PAGES_RETIRED_SINGLE),
            ofMeter(
                    "DCGM_FI_DEV_RETIRED_DBE",
                    COUNT,
                    "Pages retired because of double-bit errors.",
                    Meter.PAGES_RETIRED_DOUBLE),
            ofBoard(
                    "DCGM_FI_DEV_RETIRED_PENDING",
                    STATE,
                    "1 while pages wait for retirement.",
                    vitals -> bit(vitals.conditions().retirementPending())),
            ofMeter(
                    "DCGM_FI_DEV_POWER_VIOLATION",
                    COUNT,
                    "Time held back by the power limit (in ns).",
                    Meter.POWER_VIOLATION_NANOS),
            ofMeter(
                    "DCGM_FI_DEV_THERMAL_VIOLATION",
                    COUNT,
                    "Time held back by heat (in ns).",
                    Meter.THERMAL_VIOLATION_NANOS));

    private DcgmFields() {}

    /** Every source reads it for the telemetry topic; the meter stands in where one does not. */
    private static Reading<Double> usedMib(Vitals vitals) {
        return switch (vitals.memoryUsedBytes()) {
            case Reading.Known<Long>(Long bytes) -> new Reading.Known<>(bytes / MIB);
            case Reading.Unavailable<Long> _ ->
                vitals.meters().of(Meter.MEMORY_USED_BYTES).map(bytes -> bytes / MIB);
        };
    }

    private static Reading<Integer> bit(Reading<Boolean> reading) {
        return reading.map(yes -> yes ? 1 : 0);
    }
}
