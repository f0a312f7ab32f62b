package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.SliceVitals;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/** What is shown of a simulated GPU beside its vitals: a board without faults, under a load from 0 to 100. */
final class SimulatedMeters {
    private static final Set<Meter> OF_SLICES = Set.of(
            Meter.MEMORY_TOTAL_BYTES,
            Meter.MEMORY_USED_BYTES,
            Meter.MEMORY_FREE_BYTES,
            Meter.MEMORY_RESERVED_BYTES,
            Meter.ENGINE_ACTIVE_RATIO,
            Meter.SM_ACTIVE_RATIO,
            Meter.SM_OCCUPANCY_RATIO,
            Meter.TENSOR_ACTIVE_RATIO,
            Meter.DRAM_ACTIVE_RATIO);

    private SimulatedMeters() {}

    /** A whole GPU. */
    static Meters of(SimulatedModel model, int load, long seconds) {
        Map<Meter, Reading<Double>> readings = new EnumMap<>(Meter.class);
        for (Meter meter : Meter.values()) {
            readings.put(meter, reading(meter, model, model.memoryBytes(), load, seconds));
        }
        return new Meters(readings);
    }

    /** One instance, which has its share of the memory and its own load. */
    static SliceVitals of(SimulatedModel model, MigInstance instance, int load) {
        Map<Meter, Reading<Double>> readings = new EnumMap<>(Meter.class);
        long memory = instance.attributes().memoryBytes();
        int own = Math.clamp(load + 5L * instance.index() - 15, 0, 100);
        OF_SLICES.forEach(meter -> readings.put(meter, reading(meter, model, memory, own, 0)));
        return new SliceVitals(instance.uuid(), new Meters(readings));
    }

    private static Reading<Double> reading(Meter meter, SimulatedModel model, long memory, int load, long seconds) {
        double busy = load / 100.0;
        long reserved = memory / 128;
        boolean profiled = model.switchLinks() == 18;
        return switch (meter) {
            case MEMORY_TEMPERATURE_CELSIUS -> value(35 + load * 0.5);
            case MEMORY_TOTAL_BYTES -> value(memory);
            case MEMORY_USED_BYTES -> value((memory - reserved) / 100 * load);
            case MEMORY_FREE_BYTES -> value(memory - reserved - (memory - reserved) / 100 * load);
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
            case ENGINE_ACTIVE_RATIO, SM_ACTIVE_RATIO -> ratio(profiled, busy);
            case SM_OCCUPANCY_RATIO, TENSOR_ACTIVE_RATIO, DRAM_ACTIVE_RATIO -> ratio(profiled, busy / 2);
            case FP64_ACTIVE_RATIO, FP32_ACTIVE_RATIO, FP16_ACTIVE_RATIO -> ratio(profiled, busy / 8);
            case PCIE_SENT_BYTES_PER_SECOND, PCIE_RECEIVED_BYTES_PER_SECOND -> value(busy * 5e9);
        };
    }

    private static Reading<Double> value(double value) {
        return new Known<>(value);
    }

    /** GPM is there from Hopper on. */
    private static Reading<Double> ratio(boolean profiled, double value) {
        return profiled ? new Known<>(value) : new Unavailable<>("NOT_SUPPORTED");
    }
}
