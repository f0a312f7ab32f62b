package io.gpufleet.allocation.model.usage;

import java.time.LocalDate;

/**
 * Usage of one day in UTC by one namespace, on one model, of one quality.
 *
 * @param model short model name
 * @param quality quality as the API names it
 * @param gpuMillis milli-GPU-seconds; 0 where adjustments took everything back
 * @param intervals number of intervals and adjustments in the sum
 */
public record DailySum(LocalDate day, String namespace, String model, String quality, long gpuMillis, long intervals) {
    /** Key of its records: the newest of a key counts. */
    public String key() {
        return day + "/" + namespace + "/" + model + "/" + quality;
    }

    /** The same day and group with nothing used. */
    public DailySum emptied() {
        return new DailySum(day, namespace, model, quality, 0, 0);
    }
}
