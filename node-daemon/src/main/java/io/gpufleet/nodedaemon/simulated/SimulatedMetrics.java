package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuMetricReadings;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.MigInstanceSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Metrics of a simulated GPU: a board without faults, under a load from 0 to 100. */
final class SimulatedMetrics {
    private static final Set<GpuMetric> OF_MIG_INSTANCES = Set.of(
            GpuMetric.MEMORY_TOTAL_BYTES,
            GpuMetric.MEMORY_USED_BYTES,
            GpuMetric.MEMORY_FREE_BYTES,
            GpuMetric.MEMORY_RESERVED_BYTES,
            GpuMetric.ENGINE_ACTIVE_RATIO,
            GpuMetric.SM_ACTIVE_RATIO,
            GpuMetric.SM_OCCUPANCY_RATIO,
            GpuMetric.TENSOR_ACTIVE_RATIO,
            GpuMetric.DRAM_ACTIVE_RATIO);

    private SimulatedMetrics() {}

    /** The metrics of a whole GPU; its used memory is in the sample. */
    static GpuMetricReadings of(SimulatedModel model, int load, long seconds) {
        Map<GpuMetric, Reading<Double>> readings = new EnumMap<>(GpuMetric.class);
        for (GpuMetric metric : EnumSet.complementOf(EnumSet.of(GpuMetric.MEMORY_USED_BYTES))) {
            readings.put(metric, reading(metric, model, model.memoryBytes(), load, seconds));
        }
        return new GpuMetricReadings(readings);
    }

    /** The metrics of a MIG instance, which has its share of the memory and its own load. */
    static MigInstanceSample of(SimulatedModel model, MigInstance instance, int load) {
        Map<GpuMetric, Reading<Double>> readings = new EnumMap<>(GpuMetric.class);
        long memory = instance.attributes().memoryBytes();
        int own = Math.clamp(load + 5L * instance.index() - 15, 0, 100);
        OF_MIG_INSTANCES.forEach(metric -> readings.put(metric, reading(metric, model, memory, own, 0)));
        return new MigInstanceSample(instance.uuid(), new GpuMetricReadings(readings));
    }

    private static Reading<Double> reading(
            GpuMetric metric, SimulatedModel model, long memory, int load, long seconds) {
        double busy = load / 100.0;
        long reserved = reserved(memory);
        boolean profiled = model.switchLinks() == 18;
        return switch (metric) {
            case MEMORY_TEMPERATURE_CELSIUS -> value(35 + load * 0.5);
            case MEMORY_TOTAL_BYTES -> value(memory);
            case MEMORY_USED_BYTES -> value(memoryUsed(memory, load));
            case MEMORY_FREE_BYTES -> value(memory - reserved - memoryUsed(memory, load));
            case MEMORY_RESERVED_BYTES -> value(reserved);
            case ENCODER_UTILIZATION_PERCENT,
                    DECODER_UTILIZATION_PERCENT,
                    ROWS_REMAPPED_UNCORRECTABLE,
                    ROWS_REMAPPED_CORRECTABLE,
                    ROW_REMAP_FAILURE,
                    VGPU_LICENSE_STATUS,
                    ECC_SINGLE_VOLATILE,
                    ECC_DOUBLE_VOLATILE,
                    ECC_SINGLE_AGGREGATE,
                    ECC_DOUBLE_AGGREGATE,
                    PAGES_RETIRED_SINGLE,
                    PAGES_RETIRED_DOUBLE,
                    POWER_VIOLATION_NANOS,
                    THERMAL_VIOLATION_NANOS -> value(0);
            case NVLINK_BYTES_TOTAL ->
                model.switchLinks() == 0 ? new Unavailable<>("NOT_SUPPORTED") : value(seconds * 1e9);
            case NVLINK_BYTES_PER_SECOND -> model.switchLinks() == 0 ? new Unavailable<>("NOT_SUPPORTED") : value(1e9);
            case ENGINE_ACTIVE_RATIO, SM_ACTIVE_RATIO -> ratio(profiled, busy);
            case SM_OCCUPANCY_RATIO, TENSOR_ACTIVE_RATIO, DRAM_ACTIVE_RATIO -> ratio(profiled, busy / 2);
            case FP64_ACTIVE_RATIO, FP32_ACTIVE_RATIO, FP16_ACTIVE_RATIO -> ratio(profiled, busy / 8);
            case PCIE_SENT_BYTES_PER_SECOND, PCIE_RECEIVED_BYTES_PER_SECOND -> value(busy * 5e9);
        };
    }

    /** Memory in use, of what the driver does not reserve. */
    static long memoryUsed(long memory, int load) {
        return (memory - reserved(memory)) / 100 * load;
    }

    private static long reserved(long memory) {
        return memory / 128;
    }

    private static Reading<Double> value(double value) {
        return new Known<>(value);
    }

    /** Available where the model supports GPM, from Hopper on. */
    private static Reading<Double> ratio(boolean profiled, double value) {
        return profiled ? new Known<>(value) : new Unavailable<>("NOT_SUPPORTED");
    }
}
