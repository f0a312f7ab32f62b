package io.gpufleet.allocation.model.quota;

import java.util.Set;
import java.util.TreeSet;

/** The lines that are read by whoever was refused. */
public final class Denial {
    private Denial() {}

    /** Beyond a limit: quota, limit, used and by whom, requested, what would fit. */
    public static String beyond(GpuQuota quota, QuotaLimit limit, Used used, int requested) {
        int fits = Math.max(0, limit.gpus() - used.gpus());
        String advice = fits == 0
                ? "nothing would fit now; wait for one of them to end"
                : "%d would fit now; ask for %d".formatted(fits, fits);
        return "GpuQuota %s: limit %d %s, used %d%s, requested %d: %s, or have spec.limits of gpuquota/%s raised"
                .formatted(
                        quota.name(),
                        limit.gpus(),
                        limit.noun(),
                        used.gpus(),
                        used.byWhom(),
                        requested,
                        advice,
                        quota.name());
    }

    /** Several models are possible, and the quota counts by model. */
    public static String unpinned(GpuQuota quota, Set<String> models) {
        String could = models.contains(QuotaLimit.UNKNOWN)
                ? "no node that it selects is known yet, so its GPU model is not known"
                : "it could run on " + String.join(", ", new TreeSet<>(models));
        return "GpuQuota %s counts by GPU model, and %s: name a model: nodeSelector nvidia.com/gpu.product=… (kubectl get nodes -L nvidia.com/gpu.product lists them)"
                .formatted(quota.name(), could);
    }
}
