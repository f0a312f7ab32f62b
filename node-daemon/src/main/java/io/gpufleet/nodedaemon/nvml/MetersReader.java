package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.MemoryReader.Memory;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;

/** Reads what is shown of a GPU but decides nothing; what costs much is {@link CostlyReader}'s. */
record MetersReader(Nvml nvml) {
    private static final Map<Meter, Integer> FIELDS = Map.ofEntries(
            Map.entry(Meter.MEMORY_TEMPERATURE_CELSIUS, NvmlConstants.FIELD_MEMORY_TEMPERATURE),
            Map.entry(Meter.ROWS_REMAPPED_UNCORRECTABLE, NvmlConstants.FIELD_REMAPPED_UNCORRECTABLE),
            Map.entry(Meter.ROWS_REMAPPED_CORRECTABLE, NvmlConstants.FIELD_REMAPPED_CORRECTABLE),
            Map.entry(Meter.ROW_REMAP_FAILURE, NvmlConstants.FIELD_REMAP_FAILURE),
            Map.entry(Meter.ECC_SINGLE_VOLATILE, NvmlConstants.FIELD_ECC_SINGLE_VOLATILE),
            Map.entry(Meter.ECC_DOUBLE_VOLATILE, NvmlConstants.FIELD_ECC_DOUBLE_VOLATILE),
            Map.entry(Meter.ECC_SINGLE_AGGREGATE, NvmlConstants.FIELD_ECC_SINGLE_AGGREGATE),
            Map.entry(Meter.ECC_DOUBLE_AGGREGATE, NvmlConstants.FIELD_ECC_DOUBLE_AGGREGATE),
            Map.entry(Meter.PAGES_RETIRED_SINGLE, NvmlConstants.FIELD_RETIRED_SINGLE),
            Map.entry(Meter.PAGES_RETIRED_DOUBLE, NvmlConstants.FIELD_RETIRED_DOUBLE));

    /** The ids of all fields that go into meters. */
    static int[] fields() {
        return FIELDS.values().stream().mapToInt(Integer::intValue).toArray();
    }

    Map<Meter, Reading<Double>> read(Nvml.Handle device, Fields fields, Memory memory) {
        NvmlLibrary library = nvml.library();
        long address = device.address();
        Map<Meter, Reading<Double>> meters = memory(memory);
        FIELDS.forEach((meter, id) -> meters.put(meter, fields.of(id).map(Long::doubleValue)));
        meters.put(
                Meter.ENCODER_UTILIZATION_PERCENT,
                number(out -> library.nvmlDeviceGetEncoderUtilization(address, out, new int[1])));
        meters.put(
                Meter.DECODER_UTILIZATION_PERCENT,
                number(out -> library.nvmlDeviceGetDecoderUtilization(address, out, new int[1])));
        meters.put(Meter.NVLINK_BYTES_TOTAL, new NvLinks(nvml).bytes(device).map(Long::doubleValue));
        meters.put(Meter.VGPU_LICENSE_STATUS, licence(device));
        meters.put(Meter.POWER_VIOLATION_NANOS, violation(device, NvmlConstants.POLICY_POWER));
        meters.put(Meter.THERMAL_VIOLATION_NANOS, violation(device, NvmlConstants.POLICY_THERMAL));
        return meters;
    }

    /** Memory alone: all that a MIG instance has of these. */
    static Map<Meter, Reading<Double>> memory(Memory memory) {
        Map<Meter, Reading<Double>> meters = new EnumMap<>(Meter.class);
        meters.put(Meter.MEMORY_TOTAL_BYTES, memory.total().map(Long::doubleValue));
        meters.put(Meter.MEMORY_USED_BYTES, memory.used().map(Long::doubleValue));
        meters.put(Meter.MEMORY_FREE_BYTES, memory.free().map(Long::doubleValue));
        meters.put(Meter.MEMORY_RESERVED_BYTES, memory.reserved().map(Long::doubleValue));
        return meters;
    }

    private static Reading<Double> number(Nvml.UnsignedInt function) {
        return Nvml.number(function).map(value -> (double) Integer.toUnsignedLong(value));
    }

    /** On bare metal and under passthrough there is none to have. */
    private Reading<Double> licence(Nvml.Handle device) {
        return switch (Nvml.number(out -> nvml.library().nvmlDeviceGetVirtualizationMode(device.address(), out))) {
            case Known<Integer>(Integer mode) ->
                mode == NvmlConstants.VIRTUALIZATION_GUEST_VGPU
                        ? new Unavailable<>("the licence of a vGPU guest is not read")
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
