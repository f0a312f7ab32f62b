package io.gpufleet.nodedaemon.model;

/**
 * What one GPU says of itself now; each reading may be unavailable by itself.
 *
 * @param answers whether the handle answers at all
 * @param recoveryAction what the driver asks for
 * @param gpuUtilizationPercent 0 to 100
 * @param memoryUtilizationPercent 0 to 100
 * @param memoryUsedBytes bytes in use
 * @param powerMilliwatts power draw
 * @param temperatureCelsius temperature of the GPU
 * @param smClockMhz SM clock
 * @param memoryClockMhz memory clock
 * @param energyMillijoules since the driver was loaded
 * @param pcieReplays since the driver was loaded
 * @param clockEventReasons NVML's bit mask
 */
public record Vitals(
        String gpuUuid,
        Reading<Boolean> answers,
        Reading<RecoveryAction> recoveryAction,
        Reading<Integer> gpuUtilizationPercent,
        Reading<Integer> memoryUtilizationPercent,
        Reading<Long> memoryUsedBytes,
        Reading<Integer> powerMilliwatts,
        Reading<Integer> temperatureCelsius,
        Reading<Integer> smClockMhz,
        Reading<Integer> memoryClockMhz,
        Reading<Long> energyMillijoules,
        Reading<Long> pcieReplays,
        Reading<Long> clockEventReasons) {}
