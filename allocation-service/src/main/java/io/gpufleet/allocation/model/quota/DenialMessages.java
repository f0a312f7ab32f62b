package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Messages of denials, which the API server returns to the creator of the pod. */
public final class DenialMessages {
    private static final int MAX_KINDS = 5;
    private static final String CLAIM_REMEDY =
            "in each request, selectors with device.attributes[\"gpu.nvidia.com\"].productName == \"…\"";

    private DenialMessages() {}

    /**
     * Message for a pod beyond a limit: quota, limit, usage and its holders, requested GPUs, what would fit. Of holders in
     * other namespaces it tells the number only: the creator of the pod may not be allowed to see them.
     */
    public static String overLimit(
            GpuQuota quota, QuotaLimit limit, QuotaUsage used, GpuDemand demand, String namespace) {
        return "GpuQuota %s: limit %d %s, used %s%s, requested %s: %s, or have spec.limits of gpuquota/%s raised"
                .formatted(
                        quota.name(),
                        limit.max(),
                        limit.displayName(),
                        used.used(),
                        used.describeHolders(namespace),
                        requested(limit, demand),
                        advice(limit, used, demand),
                        quota.name());
    }

    private static String requested(QuotaLimit limit, GpuDemand demand) {
        GpuAmount amount = demand.on(limit);
        return amount.isWhole() ? amount.toString() : amount + " (" + devices(demand) + ")";
    }

    private static String devices(GpuDemand demand) {
        return demand.parts().stream()
                .map(part -> part.devices() + " " + part.resource())
                .collect(Collectors.joining(", "));
    }

    private static String advice(QuotaLimit limit, QuotaUsage used, GpuDemand demand) {
        GpuAmount left = GpuAmount.of(limit.max()).minus(used.used()).max(GpuAmount.ZERO);
        if (demand.parts().size() > 1) {
            return left + " are left; ask for less or wait for one of them to end";
        }
        GpuDemand.Part part = demand.parts().getFirst();
        int fits = left.contains(new GpuDemand(List.of(part.one())).on(limit));
        return fits == 0
                ? "nothing would fit now; wait for one of them to end"
                : "%d would fit now; ask for %d".formatted(fits, fits);
    }

    /** Message for a pod of which only the node decides what it counts on. */
    public static String ambiguousModel(GpuQuota quota, GpuDemand demand) {
        Set<String> models = demand.models();
        String reason;
        if (models.contains(GpuOffer.UNKNOWN)) {
            reason = "no node that it selects is known yet, so its GPU model is not known";
        } else if (models.size() > 1) {
            reason = "it could run on " + String.join(", ", models);
        } else {
            reason = "it could get devices of several kinds (" + kinds(demand) + ")";
        }
        return "GpuQuota %s counts by GPU model, and %s: name a model: %s (kubectl get nodes -L nvidia.com/gpu.product lists them)"
                .formatted(
                        quota.name(),
                        reason,
                        demand.isClaim() ? CLAIM_REMEDY : "nodeSelector nvidia.com/gpu.product=…");
    }

    private static String kinds(GpuDemand demand) {
        return demand.parts().stream()
                .flatMap(part -> part.offers().stream())
                .map(offer -> offer.product() + (offer.migProfile().isEmpty() ? "" : " " + offer.migProfile()))
                .distinct()
                .sorted()
                .limit(MAX_KINDS)
                .collect(Collectors.joining(", "));
    }
}
