package io.gpufleet.allocation.model.quota;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What is used of one limit.
 *
 * @param gpus what counts, the part that is set aside included
 * @param setAside GPUs that count though no pod is seen: admitted before the deciding replica took over
 * @param holders who counts, largest first
 */
public record Used(int gpus, int setAside, List<Holder> holders) {
    /** A pod and its GPUs. */
    public record Holder(String pod, int gpus) {}

    /** Sorts. */
    public Used {
        holders = holders.stream()
                .sorted(Comparator.comparingInt(Holder::gpus).reversed().thenComparing(Holder::pod))
                .toList();
    }

    /** By whom it is used, for people: at most five names. */
    public String byWhom() {
        String names = holders.stream()
                .limit(5)
                .map(holder -> holder.pod() + " " + holder.gpus())
                .collect(Collectors.joining(", "));
        int more = holders.size() - 5;
        String aside = setAside > 0
                ? (names.isEmpty() ? "" : ", ") + setAside + " set aside after a change of replica, for up to 70 s"
                : "";
        return names.isEmpty() && aside.isEmpty()
                ? ""
                : " (" + names + (more > 0 ? " and " + more + " more" : "") + aside + ")";
    }
}
