package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.nodedaemon.model.device.DeviceSample;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import java.time.Instant;

/** Samples of simulated GPUs under a varying load; the same GPU has the same sample in the same second. */
final class SimulatedSamples {
    /** Time from which counters count. */
    private static final long DRIVER_LOADED =
            Instant.parse("2026-01-01T00:00:00Z").getEpochSecond();

    private static final int MEAN_LOAD_PERCENT = 60;
    private static final int LANES = 16;

    private SimulatedSamples() {}

    /** Sample of a GPU at that time. */
    static GpuSample of(Gpu gpu, SimulatedModel model, Instant now) {
        long seconds = Math.max(0, now.getEpochSecond() - DRIVER_LOADED);
        double wave = Math.sin((seconds + 37.0 * gpu.index()) * 2 * Math.PI / 300);
        int load = (int) Math.round(MEAN_LOAD_PERCENT + 35 * wave);
        long idleMilliwatts = model.watts() * 100L;
        long power = idleMilliwatts + model.watts() * 9L * load;
        long meanPower = idleMilliwatts + model.watts() * 9L * MEAN_LOAD_PERCENT;
        return new GpuSample(
                gpu.uuid(),
                new Known<>(true),
                new Known<>(RecoveryAction.NONE),
                new DeviceSample(
                        new DeviceSample.Utilization(unlessPartitioned(gpu, load), unlessPartitioned(gpu, load / 2)),
                        new Known<>(SimulatedMetrics.memoryUsed(model.memoryBytes(), load)),
                        new DeviceSample.Power(new Known<>((int) power), new Known<>(meanPower * seconds)),
                        new Known<>(30 + load * 45 / 100),
                        new DeviceSample.Clocks(
                                new Known<>(load < 30 ? model.smClockMhz() / 2 : model.smClockMhz()),
                                new Known<>(model.memoryClockMhz()),
                                new Known<>(load > 90 ? 0x4L : 0L)),
                        new Known<>(0L)),
                SimulatedMetrics.of(model, load, seconds),
                healthy(model),
                new Unavailable<>("not simulated"),
                gpu.instances().stream()
                        .map(instance -> SimulatedMetrics.of(model, instance, load))
                        .toList());
    }

    /** As in NVML, a GPU in MIG mode has no utilization. */
    private static Reading<Integer> unlessPartitioned(Gpu gpu, int value) {
        return gpu.mig().enabled().orElse(false) ? new Unavailable<>("NOT_SUPPORTED") : new Known<>(value);
    }

    /** Health readings without a fault; simulated GPUs fail by XID only. */
    private static HealthReadings healthy(SimulatedModel model) {
        boolean linked = model.switchLinks() > 0;
        return new HealthReadings(
                new Known<>(0L),
                new HealthReadings.RowRemapping(new Known<>(false), new Known<>(false)),
                new Known<>(false),
                new HealthReadings.PcieLink(
                        new Known<>(model.pcieGeneration()),
                        new Known<>(model.pcieGeneration()),
                        new Known<>(LANES),
                        new Known<>(LANES)),
                new HealthReadings.Nvlink(
                        linked ? new Known<>(0) : new Unavailable<>("NOT_SUPPORTED"),
                        linked ? new Known<>(0L) : new Unavailable<>("NOT_SUPPORTED"),
                        linked ? new Known<>(0L) : new Unavailable<>("NOT_SUPPORTED")),
                new Known<>(true),
                linked ? new Known<>(HealthReadings.FabricState.UP) : new Unavailable<>("NOT_SUPPORTED"),
                new Known<>(true));
    }
}
