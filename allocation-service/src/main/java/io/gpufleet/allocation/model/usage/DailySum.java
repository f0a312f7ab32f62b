package io.gpufleet.allocation.model.usage;

import io.gpufleet.allocation.model.holding.UsageAttributes;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;

/**
 * Usage of one day in UTC by one namespace, on one model, of one quality.
 *
 * @param model short model name
 * @param quality quality as the API names it
 * @param gpuMillis milli-GPU-seconds; 0 where adjustments took everything back
 * @param intervals number of intervals and adjustments in the sum
 * @param parts the same usage divided; empty in records of earlier releases
 */
public record DailySum(
        LocalDate day,
        String namespace,
        String model,
        String quality,
        long gpuMillis,
        long intervals,
        List<Part> parts) {
    /**
     * Part of a sum.
     *
     * @param node empty, like the attributes, in the part that stands for many small ones
     */
    public record Part(String node, UsageAttributes attributes, long gpuMillis, long intervals) {
        private static final int FIXED_BYTES = 64;

        /** About how many bytes it takes in a record or in memory. */
        int bytes() {
            int bytes = FIXED_BYTES
                    + node.length()
                    + attributes.product().length()
                    + attributes.owner().length();
            for (Map.Entry<String, String> label : attributes.labels().entrySet()) {
                bytes += label.getKey().length() + label.getValue().length() + 8;
            }
            return bytes;
        }
    }

    /** Copies. */
    public DailySum {
        parts = List.copyOf(parts);
    }

    /** A sum that is not divided. */
    public DailySum(LocalDate day, String namespace, String model, String quality, long gpuMillis, long intervals) {
        this(day, namespace, model, quality, gpuMillis, intervals, List.of());
    }

    /** Key of its records: the newest of a key counts. */
    public String key() {
        return day + "/" + namespace + "/" + model + "/" + quality;
    }

    /** True for time that is never billed: it is part of no sum but its own. */
    public boolean unbilled() {
        return UsagePiece.isUnbilled(quality);
    }

    /** The same day and group with nothing used. */
    public DailySum emptied() {
        return new DailySum(day, namespace, model, quality, 0, 0);
    }

    /** The same sum, not divided. */
    public DailySum undivided() {
        return new DailySum(day, namespace, model, quality, gpuMillis, intervals);
    }

    /** The parts; one that names nothing where the sum is not divided. They add up to the sum. */
    public List<Part> allParts() {
        return parts.isEmpty() ? List.of(new Part("", UsageAttributes.NONE, gpuMillis, intervals)) : parts;
    }

    /** About how many bytes the parts take. */
    public int partBytes() {
        return parts.stream().mapToInt(Part::bytes).sum();
    }
}
