package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Instant;

/** Vitals that move as under work, yet the same for the same GPU at the same second. */
final class SimulatedVitals {
    /** Counters count from here. */
    private static final long DRIVER_LOADED =
            Instant.parse("2026-01-01T00:00:00Z").getEpochSecond();

    private static final int MEAN_LOAD_PERCENT = 60;
    private static final int LANES = 16;

    private SimulatedVitals() {}

    /** What the GPU would say at that time. */
    static Vitals of(Gpu gpu, SimulatedModel model, Instant now) {
        long seconds = Math.max(0, now.getEpochSecond() - DRIVER_LOADED);
        double wave = Math.sin((seconds + 37.0 * gpu.index()) * 2 * Math.PI / 300);
        int load = (int) Math.round(MEAN_LOAD_PERCENT + 35 * wave);
        long idleMilliwatts = model.watts() * 100L;
        long power = idleMilliwatts + model.watts() * 9L * load;
        long meanPower = idleMilliwatts + model.watts() * 9L * MEAN_LOAD_PERCENT;
        return new Vitals(
                gpu.uuid(),
                new Known<>(true),
                new Known<>(RecoveryAction.NONE),
                unlessPartitioned(gpu, load),
                unlessPartitioned(gpu, load / 2),
                memoryUsed(model, load),
                new Known<>((int) power),
                new Known<>(30 + load * 45 / 100),
                new Known<>(load < 30 ? model.smClockMhz() / 2 : model.smClockMhz()),
                new Known<>(model.memoryClockMhz()),
                new Known<>(meanPower * seconds),
                new Known<>(0L),
                new Known<>(load > 90 ? 0x4L : 0L),
                SimulatedMeters.of(model, load, seconds),
                well(model),
                new Unavailable<>("not simulated"),
                gpu.instances().stream()
                        .map(instance -> SimulatedMeters.of(model, instance, load))
                        .toList());
    }

    /** As NVML has it: a GPU in MIG mode has no utilization of its own. */
    private static Reading<Integer> unlessPartitioned(Gpu gpu, int value) {
        return gpu.migEnabled().orElse(false) ? new Unavailable<>("NOT_SUPPORTED") : new Known<>(value);
    }

    /** Simulated GPUs fail by XID alone. */
    private static Conditions well(SimulatedModel model) {
        boolean linked = model.switchLinks() > 0;
        return new Conditions(
                new Known<>(0L),
                new Known<>(false),
                new Known<>(false),
                new Known<>(false),
                new Known<>(model.pcieGeneration()),
                new Known<>(model.pcieGeneration()),
                new Known<>(LANES),
                new Known<>(LANES),
                linked ? new Known<>(0) : new Unavailable<>("NOT_SUPPORTED"),
                linked ? new Known<>(0L) : new Unavailable<>("NOT_SUPPORTED"),
                new Known<>(true),
                linked ? new Known<>(Conditions.Fabric.UP) : new Unavailable<>("NOT_SUPPORTED"),
                new Known<>(true));
    }

    private static Reading<Long> memoryUsed(SimulatedModel model, int load) {
        return new Known<>(model.memoryBytes() / 100 * load);
    }
}
