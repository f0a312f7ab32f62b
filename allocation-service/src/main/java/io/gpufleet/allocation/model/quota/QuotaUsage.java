package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Usage of one limit with its holders.
 *
 * @param used what counts, including those carried over
 * @param carriedOver what counts although their pods were not observed: the previous leader may have admitted them
 * @param holders the largest pods that count, largest first
 * @param pods number of all pods that count
 */
public record QuotaUsage(GpuAmount used, GpuAmount carriedOver, List<PodUsage> holders, int pods) {
    private static final int MAX_NAMED = 5;

    /** A pod and what it counts. */
    public record PodUsage(String namespace, String pod, GpuAmount used) {}

    /** Copies. */
    public QuotaUsage {
        holders = List.copyOf(holders);
    }

    /** Names at most five holders of a namespace, and how many others there are, in brackets; empty without usage. */
    public String describeHolders(String namespace) {
        List<PodUsage> named = holders.stream()
                .filter(holder -> holder.namespace().equals(namespace))
                .limit(MAX_NAMED)
                .toList();
        String names =
                named.stream().map(holder -> holder.pod() + " " + holder.used()).collect(Collectors.joining(", "));
        int more = pods - named.size();
        String others = more == 0
                ? ""
                : (names.isEmpty() ? "" : " and ")
                        + more
                        + (names.isEmpty() ? "" : " more")
                        + (more == 1 ? " pod" : " pods");
        String carried = !carriedOver.isZero()
                ? (pods == 0 ? "" : ", ") + carriedOver + " carried over from the previous leader, for up to 70 s"
                : "";
        return pods == 0 && carried.isEmpty() ? "" : " (" + names + others + carried + ")";
    }
}
