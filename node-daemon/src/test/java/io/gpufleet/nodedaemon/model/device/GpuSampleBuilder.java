package io.gpufleet.nodedaemon.model.device;

import io.gpufleet.nodedaemon.model.device.HealthReadings.FabricState;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import java.util.List;

/** Builds samples from that of a healthy GPU. */
public final class GpuSampleBuilder {
    private final int gpu;
    private Reading<Boolean> answers = new Known<>(true);
    private Reading<RecoveryAction> recovery = new Known<>(RecoveryAction.NONE);
    private int utilization = 10;
    private Reading<Long> memory = new Known<>(1L << 30);
    private Reading<Long> energyMillijoules = new Known<>(1000L);
    private Reading<Long> replays = new Known<>(0L);
    private Reading<Long> clockReasons = new Known<>(0L);
    private Reading<List<ComputeProcess>> processes = new Known<>(List.of());
    private HealthReadings health = new HealthReadings(
            new Known<>(0L),
            new HealthReadings.RowRemapping(new Known<>(false), new Known<>(false)),
            new Known<>(false),
            new HealthReadings.PcieLink(new Known<>(5), new Known<>(5), new Known<>(16), new Known<>(16)),
            new HealthReadings.Nvlink(new Known<>(0), new Known<>(0L), new Known<>(0L)),
            new Known<>(true),
            new Known<>(FabricState.UP),
            new Known<>(true));

    private GpuSampleBuilder(int gpu) {
        this.gpu = gpu;
    }

    /** Starts with the sample of a healthy GPU. */
    public static GpuSampleBuilder healthyGpu(int gpu) {
        return new GpuSampleBuilder(gpu);
    }

    /** Returns the sample. */
    public GpuSample build() {
        return new GpuSample(
                TestGpus.uuid(gpu),
                answers,
                recovery,
                new DeviceSample(
                        new DeviceSample.Utilization(new Known<>(utilization), new Known<>(0)),
                        memory,
                        new DeviceSample.Power(new Known<>(100_000), energyMillijoules),
                        new Known<>(40),
                        new DeviceSample.Clocks(new Known<>(1980), new Known<>(2619), clockReasons),
                        replays),
                GpuMetricReadings.NONE,
                health,
                processes,
                List.of());
    }

    public GpuSampleBuilder unresponsive() {
        answers = new Known<>(false);
        recovery = new Reading.Unavailable<>("GPU_IS_LOST");
        energyMillijoules = new Reading.Unavailable<>("GPU_IS_LOST");
        return with(HealthReadings.unavailable("GPU_IS_LOST"));
    }

    public GpuSampleBuilder recoveryAction(RecoveryAction action) {
        recovery = new Known<>(action);
        return this;
    }

    /** A driver before 565. */
    public GpuSampleBuilder withoutRecoveryAction() {
        recovery = new Reading.Unavailable<>("NOT_SUPPORTED");
        return this;
    }

    public GpuSampleBuilder energyMillijoules(long millijoules) {
        energyMillijoules = new Known<>(millijoules);
        return this;
    }

    public GpuSampleBuilder utilization(int percent) {
        utilization = percent;
        return this;
    }

    public GpuSampleBuilder memory(Reading<Long> reading) {
        memory = reading;
        return this;
    }

    public GpuSampleBuilder replays(Reading<Long> reading) {
        replays = reading;
        return this;
    }

    public GpuSampleBuilder clockReasons(Reading<Long> reading) {
        clockReasons = reading;
        return this;
    }

    public GpuSampleBuilder with(HealthReadings others) {
        health = others;
        return this;
    }

    /** Sets the compute processes, or why they could not be read. */
    public GpuSampleBuilder processes(Reading<List<ComputeProcess>> reading) {
        processes = reading;
        return this;
    }

    public GpuSampleBuilder powerReadable(boolean readable) {
        var c = health;
        return with(new HealthReadings(
                c.uncorrectableErrors(),
                new HealthReadings.RowRemapping(
                        c.rowRemapping().pending(), c.rowRemapping().failed()),
                c.retirementPending(),
                new HealthReadings.PcieLink(
                        c.pcie().generation(),
                        c.pcie().maxGeneration(),
                        c.pcie().width(),
                        c.pcie().maxWidth()),
                c.nvlink(),
                c.infoRomValid(),
                c.fabric(),
                new Known<>(readable)));
    }

    public GpuSampleBuilder uncorrectable(long errors) {
        var c = health;
        return with(new HealthReadings(
                new Known<>(errors),
                new HealthReadings.RowRemapping(
                        c.rowRemapping().pending(), c.rowRemapping().failed()),
                c.retirementPending(),
                new HealthReadings.PcieLink(
                        c.pcie().generation(),
                        c.pcie().maxGeneration(),
                        c.pcie().width(),
                        c.pcie().maxWidth()),
                c.nvlink(),
                c.infoRomValid(),
                c.fabric(),
                c.powerReadable()));
    }

    public GpuSampleBuilder rowRemap(boolean pending, boolean failed, boolean retirement) {
        var c = health;
        return with(new HealthReadings(
                c.uncorrectableErrors(),
                new HealthReadings.RowRemapping(new Known<>(pending), new Known<>(failed)),
                new Known<>(retirement),
                new HealthReadings.PcieLink(
                        c.pcie().generation(),
                        c.pcie().maxGeneration(),
                        c.pcie().width(),
                        c.pcie().maxWidth()),
                c.nvlink(),
                c.infoRomValid(),
                c.fabric(),
                c.powerReadable()));
    }

    public GpuSampleBuilder link(int generation, int width) {
        var c = health;
        return with(new HealthReadings(
                c.uncorrectableErrors(),
                new HealthReadings.RowRemapping(
                        c.rowRemapping().pending(), c.rowRemapping().failed()),
                c.retirementPending(),
                new HealthReadings.PcieLink(
                        new Known<>(generation),
                        c.pcie().maxGeneration(),
                        new Known<>(width),
                        c.pcie().maxWidth()),
                c.nvlink(),
                c.infoRomValid(),
                c.fabric(),
                c.powerReadable()));
    }

    public GpuSampleBuilder linksDown(int links) {
        return nvlink(new Known<>(links), health.nvlink().errors(), health.fabric());
    }

    public GpuSampleBuilder linkErrors(long errors) {
        return nvlink(health.nvlink().linksDown(), new Known<>(errors), health.fabric());
    }

    public GpuSampleBuilder fabric(Reading<FabricState> fabric) {
        return nvlink(health.nvlink().linksDown(), health.nvlink().errors(), fabric);
    }

    private GpuSampleBuilder nvlink(Reading<Integer> down, Reading<Long> errors, Reading<FabricState> fabric) {
        return nvlink(new HealthReadings.Nvlink(down, errors, health.nvlink().crcErrors()), fabric);
    }

    public GpuSampleBuilder crcErrors(long errors) {
        var links = health.nvlink();
        return nvlink(
                new HealthReadings.Nvlink(links.linksDown(), links.errors(), new Known<>(errors)), health.fabric());
    }

    private GpuSampleBuilder nvlink(HealthReadings.Nvlink links, Reading<FabricState> fabric) {
        var c = health;
        return with(new HealthReadings(
                c.uncorrectableErrors(),
                new HealthReadings.RowRemapping(
                        c.rowRemapping().pending(), c.rowRemapping().failed()),
                c.retirementPending(),
                new HealthReadings.PcieLink(
                        c.pcie().generation(),
                        c.pcie().maxGeneration(),
                        c.pcie().width(),
                        c.pcie().maxWidth()),
                links,
                c.infoRomValid(),
                fabric,
                c.powerReadable()));
    }

    public GpuSampleBuilder infoRom(boolean valid) {
        var c = health;
        return with(new HealthReadings(
                c.uncorrectableErrors(),
                new HealthReadings.RowRemapping(
                        c.rowRemapping().pending(), c.rowRemapping().failed()),
                c.retirementPending(),
                new HealthReadings.PcieLink(
                        c.pcie().generation(),
                        c.pcie().maxGeneration(),
                        c.pcie().width(),
                        c.pcie().maxWidth()),
                c.nvlink(),
                new Known<>(valid),
                c.fabric(),
                c.powerReadable()));
    }
}
