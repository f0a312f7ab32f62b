package io.gpufleet.nodedaemon.model.device;

/**
 * The basic readings of one GPU (message DeviceSample of the telemetry); each may be unavailable by itself.
 *
 * @param memoryUsedBytes bytes in use
 * @param temperatureCelsius temperature of the GPU
 * @param pcieReplays since the driver was loaded
 */
public record DeviceSample(
        Utilization utilization,
        Reading<Long> memoryUsedBytes,
        Power power,
        Reading<Integer> temperatureCelsius,
        Clocks clocks,
        Reading<Long> pcieReplays) {
    /** Utilization in percent, 0 to 100 (nvmlUtilization_t). */
    public record Utilization(Reading<Integer> gpu, Reading<Integer> memory) {}

    /**
     * Power draw.
     *
     * @param milliwatts now
     * @param energyMillijoules since the driver was loaded
     */
    public record Power(Reading<Integer> milliwatts, Reading<Long> energyMillijoules) {}

    /**
     * Clocks.
     *
     * @param eventReasons NVML's bit mask of clock event reasons
     */
    public record Clocks(Reading<Integer> smMhz, Reading<Integer> memoryMhz, Reading<Long> eventReasons) {}

    /** Returns a sample in which every reading is unavailable for one reason. */
    public static DeviceSample unavailable(String reason) {
        return new DeviceSample(
                new Utilization(new Reading.Unavailable<>(reason), new Reading.Unavailable<>(reason)),
                new Reading.Unavailable<>(reason),
                new Power(new Reading.Unavailable<>(reason), new Reading.Unavailable<>(reason)),
                new Reading.Unavailable<>(reason),
                new Clocks(
                        new Reading.Unavailable<>(reason),
                        new Reading.Unavailable<>(reason),
                        new Reading.Unavailable<>(reason)),
                new Reading.Unavailable<>(reason));
    }
}
