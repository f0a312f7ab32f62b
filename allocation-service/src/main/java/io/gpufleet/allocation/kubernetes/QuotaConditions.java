package io.gpufleet.allocation.kubernetes;

import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Conditions in the status of a GpuQuota; their texts fit the schema. */
final class QuotaConditions {
    private static final int MAX_MESSAGE = 1_024;

    private QuotaConditions() {}

    private record Condition(String type, boolean holds, String reason, String message) {
        Map<String, Object> map(List<Map<String, Object>> before, Instant now) {
            String status = holds ? "True" : "False";
            String since = before.stream()
                    .filter(condition -> type.equals(condition.get("type")) && status.equals(condition.get("status")))
                    .map(condition -> String.valueOf(condition.get("lastTransitionTime")))
                    .findFirst()
                    .orElse(now.truncatedTo(ChronoUnit.SECONDS).toString());
            return Map.of(
                    "type", type,
                    "status", status,
                    "reason", reason,
                    "message", GpuQuotaMapper.cut(message, MAX_MESSAGE),
                    "lastTransitionTime", since);
        }
    }

    /** Conditions of a quota that is in force; with a problem it is so by its last specification. */
    static List<Map<String, Object>> of(GpuQuota quota, String problem, List<Map<String, Object>> before, Instant now) {
        List<String> over = quota.limits().stream()
                .filter(limit -> quota.status()
                                .used()
                                .getOrDefault(limit.id(), GpuAmount.ZERO)
                                .compareTo(GpuAmount.of(limit.max()))
                        > 0)
                .map(QuotaLimit::id)
                .toList();
        var unknown = quota.status().unknownLimits();
        return List.of(
                ready(problem).map(before, now),
                new Condition(
                                "OverLimit",
                                !over.isEmpty(),
                                over.isEmpty() ? "WithinLimits" : "LimitExceeded",
                                over.isEmpty() ? "" : "more in use than the limit of " + String.join(", ", over))
                        .map(before, now),
                new Condition(
                                "LimitsKnown",
                                unknown.isEmpty(),
                                unknown.isEmpty() ? "Known" : "NoSuchDevice",
                                unknown.isEmpty()
                                        ? ""
                                        : "no node of the cluster has or had a device that these limits count: "
                                                + String.join(", ", unknown)
                                                + "; kubectl get nodes -L gpu-type lists the models")
                        .map(before, now));
    }

    /** The conditions with Ready=False. */
    static List<Map<String, Object>> notReady(List<Map<String, Object>> before, String reason, Instant now) {
        List<Map<String, Object>> conditions = new ArrayList<>(before);
        conditions.removeIf(condition -> "Ready".equals(condition.get("type")));
        conditions.addFirst(ready(reason).map(before, now));
        return conditions;
    }

    /** False where the conditions say that the quota is not in force. */
    static boolean isReady(List<Map<String, Object>> conditions) {
        return conditions.stream()
                .noneMatch(
                        condition -> "Ready".equals(condition.get("type")) && "False".equals(condition.get("status")));
    }

    private static Condition ready(String problem) {
        return problem.isEmpty()
                ? new Condition("Ready", true, "InForce", "")
                : new Condition("Ready", false, "NotInForce", problem);
    }
}
