package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.LimitKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;

/** Admitted requests whose answer waits until the escrow that it needs is written, by the quota that is waited for. */
final class PendingAdmissionResponses {
    /**
     * An answer that waits.
     *
     * @param uid UID under which its GPUs are reserved
     * @param escrow escrow by limit that has to be written first
     */
    record Pending(
            String uid,
            AdmissionDecision decision,
            Map<LimitKey, Integer> escrow,
            long sinceNanos,
            CompletableFuture<AdmissionDecision> answer) {}

    private final Map<String, Deque<Pending>> byQuota = new HashMap<>();

    boolean isEmpty() {
        return byQuota.isEmpty();
    }

    /** Quota for which an answer has to wait; empty when the escrow covers it. */
    static String blockedBy(Pending pending, BiPredicate<LimitKey, Integer> covers) {
        for (var required : pending.escrow().entrySet()) {
            if (!covers.test(required.getKey(), required.getValue())) {
                return required.getKey().quota();
            }
        }
        return "";
    }

    void add(String quota, Pending pending) {
        byQuota.computeIfAbsent(quota, _ -> new ArrayDeque<>()).addLast(pending);
    }

    /** Removes and returns all that wait for a quota, oldest first. */
    List<Pending> take(String quota) {
        Deque<Pending> waiting = byQuota.remove(quota);
        return waiting == null ? List.of() : List.copyOf(waiting);
    }

    /** Removes and returns those that wait since before a monotonic time. */
    List<Pending> takeBefore(long nanos) {
        List<Pending> due = new ArrayList<>();
        byQuota.values().forEach(waiting -> {
            while (!waiting.isEmpty() && waiting.getFirst().sinceNanos() - nanos < 0) {
                due.add(waiting.removeFirst());
            }
        });
        byQuota.values().removeIf(Deque::isEmpty);
        return due;
    }

    /** Removes and returns all. */
    List<Pending> takeAll() {
        List<Pending> all = new ArrayList<>();
        byQuota.values().forEach(all::addAll);
        byQuota.clear();
        return all;
    }
}
