package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFieldValues;
import io.gpufleet.nodedaemon.nvml.reader.GpuMemoryReader.MemoryReadings;
import io.gpufleet.nodedaemon.nvml.reader.NvLinkReader.NvLinkReadings;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;

/** Reads the metrics of a GPU that are cheap to read; {@link SlowReadingsReader} reads the others. */
record GpuMetricsReader(Nvml nvml) {
    private static final Map<GpuMetric, Integer> FIELDS = Map.ofEntries(
            Map.entry(GpuMetric.MEMORY_TEMPERATURE_CELSIUS, NvmlConstants.FIELD_MEMORY_TEMPERATURE),
            Map.entry(GpuMetric.ROWS_REMAPPED_UNCORRECTABLE, NvmlConstants.FIELD_REMAPPED_UNCORRECTABLE),
            Map.entry(GpuMetric.ROWS_REMAPPED_CORRECTABLE, NvmlConstants.FIELD_REMAPPED_CORRECTABLE),
            Map.entry(GpuMetric.ROW_REMAP_FAILURE, NvmlConstants.FIELD_REMAP_FAILURE),
            Map.entry(GpuMetric.ECC_SINGLE_VOLATILE, NvmlConstants.FIELD_ECC_SINGLE_VOLATILE),
            Map.entry(GpuMetric.ECC_DOUBLE_VOLATILE, NvmlConstants.FIELD_ECC_DOUBLE_VOLATILE),
            Map.entry(GpuMetric.ECC_SINGLE_AGGREGATE, NvmlConstants.FIELD_ECC_SINGLE_AGGREGATE),
            Map.entry(GpuMetric.ECC_DOUBLE_AGGREGATE, NvmlConstants.FIELD_ECC_DOUBLE_AGGREGATE),
            Map.entry(GpuMetric.PAGES_RETIRED_SINGLE, NvmlConstants.FIELD_RETIRED_SINGLE),
            Map.entry(GpuMetric.PAGES_RETIRED_DOUBLE, NvmlConstants.FIELD_RETIRED_DOUBLE));

    /** Ids of all NVML fields that are metrics. */
    static int[] fields() {
        return FIELDS.values().stream().mapToInt(Integer::intValue).toArray();
    }

    Map<GpuMetric, Reading<Double>> read(
            Nvml.Handle device, NvmlFieldValues fields, MemoryReadings memory, NvLinkReadings links) {
        long address = device.address();
        Map<GpuMetric, Reading<Double>> metrics = memory(memory);
        FIELDS.forEach((metric, id) -> metrics.put(metric, fields.of(id).map(Long::doubleValue)));
        metrics.put(
                GpuMetric.ENCODER_UTILIZATION_PERCENT,
                number(out -> nvml.library().nvmlDeviceGetEncoderUtilization(address, out, new int[1])));
        metrics.put(
                GpuMetric.DECODER_UTILIZATION_PERCENT,
                number(out -> nvml.library().nvmlDeviceGetDecoderUtilization(address, out, new int[1])));
        metrics.put(GpuMetric.NVLINK_BYTES_TOTAL, links.bytes().map(Long::doubleValue));
        metrics.put(GpuMetric.VGPU_LICENSE_STATUS, license(device));
        metrics.put(GpuMetric.POWER_VIOLATION_NANOS, violation(device, NvmlConstants.POLICY_POWER));
        metrics.put(GpuMetric.THERMAL_VIOLATION_NANOS, violation(device, NvmlConstants.POLICY_THERMAL));
        return metrics;
    }

    /** The memory of a MIG instance. */
    static Map<GpuMetric, Reading<Double>> ofMigInstance(MemoryReadings memory) {
        Map<GpuMetric, Reading<Double>> metrics = memory(memory);
        metrics.put(GpuMetric.MEMORY_USED_BYTES, memory.used().map(Long::doubleValue));
        return metrics;
    }

    /** The memory of a GPU, without what is in use: the sample has that, since rules judge it. */
    private static Map<GpuMetric, Reading<Double>> memory(MemoryReadings memory) {
        Map<GpuMetric, Reading<Double>> metrics = new EnumMap<>(GpuMetric.class);
        metrics.put(GpuMetric.MEMORY_TOTAL_BYTES, memory.total().map(Long::doubleValue));
        metrics.put(GpuMetric.MEMORY_FREE_BYTES, memory.free().map(Long::doubleValue));
        metrics.put(GpuMetric.MEMORY_RESERVED_BYTES, memory.reserved().map(Long::doubleValue));
        return metrics;
    }

    private static Reading<Double> number(Nvml.UnsignedIntCall function) {
        return Nvml.number(function).map(value -> (double) Integer.toUnsignedLong(value));
    }

    /** 0 on bare metal and with passthrough, which need no license. */
    private Reading<Double> license(Nvml.Handle device) {
        return switch (Nvml.number(out -> nvml.library().nvmlDeviceGetVirtualizationMode(device.address(), out))) {
            case Known<Integer>(Integer mode) ->
                mode == NvmlConstants.VIRTUALIZATION_GUEST_VGPU
                        ? new Unavailable<>("the license of a vGPU guest is not read")
                        : new Known<>(0.0);
            case Unavailable<Integer>(String reason) -> new Unavailable<>(reason);
        };
    }

    private Reading<Double> violation(Nvml.Handle device, int policy) {
        ByteBuffer time = Nvml.struct(NvmlLayout.VIOLATION_SIZE);
        return Nvml.reading(
                Nvml.code(() -> nvml.library().nvmlDeviceGetViolationStatus(device.address(), policy, time)),
                () -> (double) time.getLong(NvmlLayout.VIOLATION_TIME));
    }
}
