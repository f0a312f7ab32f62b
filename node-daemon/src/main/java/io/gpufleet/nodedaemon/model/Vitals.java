package io.gpufleet.nodedaemon.model;

import java.util.List;

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
 * @param meters everything else that is shown but decides nothing
 * @param conditions what it says of its own fitness
 * @param processes who computes on it and on its MIG instances; unavailable is not nobody
 * @param slices its MIG instances
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
        Reading<Long> clockEventReasons,
        Meters meters,
        Conditions conditions,
        Reading<List<ComputeProcess>> processes,
        List<SliceVitals> slices) {
    /** Copies the lists. */
    public Vitals {
        processes = processes.map(List::copyOf);
        slices = List.copyOf(slices);
    }

    /** The same of a GPU on which these compute. */
    public Vitals with(Reading<List<ComputeProcess>> others) {
        return new Vitals(
                gpuUuid,
                answers,
                recoveryAction,
                gpuUtilizationPercent,
                memoryUtilizationPercent,
                memoryUsedBytes,
                powerMilliwatts,
                temperatureCelsius,
                smClockMhz,
                memoryClockMhz,
                energyMillijoules,
                pcieReplays,
                clockEventReasons,
                meters,
                conditions,
                others,
                slices);
    }
}
