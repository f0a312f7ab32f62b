package io.gpufleet.allocation.model.quota;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Usage of one limit with its holders.
 *
 * @param gpus GPUs that count, including those carried over
 * @param carriedOver GPUs that count although their pods were not observed: the previous leader may have admitted them
 * @param holders pods that count, largest first
 */
public record QuotaUsage(int gpus, int carriedOver, List<PodUsage> holders) {
    /** A pod and its GPUs. */
    public record PodUsage(String pod, int gpus) {}

    /** Sorts. */
    public QuotaUsage {
        holders = holders.stream()
                .sorted(Comparator.comparingInt(PodUsage::gpus).reversed().thenComparing(PodUsage::pod))
                .toList();
    }

    /** Names at most five holders, in brackets; empty without usage. */
    public String describeHolders() {
        String names = holders.stream()
                .limit(5)
                .map(holder -> holder.pod() + " " + holder.gpus())
                .collect(Collectors.joining(", "));
        int more = holders.size() - 5;
        String carried = carriedOver > 0
                ? (names.isEmpty() ? "" : ", ") + carriedOver + " carried over from the previous leader, for up to 70 s"
                : "";
        return names.isEmpty() && carried.isEmpty()
                ? ""
                : " (" + names + (more > 0 ? " and " + more + " more" : "") + carried + ")";
    }
}
