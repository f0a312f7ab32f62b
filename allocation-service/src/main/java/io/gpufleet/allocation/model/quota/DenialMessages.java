package io.gpufleet.allocation.model.quota;

import java.util.Set;
import java.util.TreeSet;

/** Messages of denials, which the API server returns to the creator of the pod. */
public final class DenialMessages {
    private DenialMessages() {}

    /**
     * Message for a pod beyond a limit: quota, limit, usage and its holders, requested GPUs, what would fit. Of holders in
     * other namespaces it tells the number only: the creator of the pod may not be allowed to see them.
     */
    public static String overLimit(GpuQuota quota, QuotaLimit limit, QuotaUsage used, int requested, String namespace) {
        int fits = Math.max(0, limit.gpus() - used.gpus());
        String advice = fits == 0
                ? "nothing would fit now; wait for one of them to end"
                : "%d would fit now; ask for %d".formatted(fits, fits);
        return "GpuQuota %s: limit %d %s, used %d%s, requested %d: %s, or have spec.limits of gpuquota/%s raised"
                .formatted(
                        quota.name(),
                        limit.gpus(),
                        limit.displayName(),
                        used.gpus(),
                        used.describeHolders(namespace),
                        requested,
                        advice,
                        quota.name());
    }

    /** Message for a pod that could run on several models, where the quota counts by model. */
    public static String ambiguousModel(GpuQuota quota, Set<String> models) {
        String reason = models.contains(QuotaLimit.UNKNOWN)
                ? "no node that it selects is known yet, so its GPU model is not known"
                : "it could run on " + String.join(", ", new TreeSet<>(models));
        return "GpuQuota %s counts by GPU model, and %s: name a model: nodeSelector nvidia.com/gpu.product=… (kubectl get nodes -L nvidia.com/gpu.product lists them)"
                .formatted(quota.name(), reason);
    }
}
