package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.quota.TestQuotas;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** One decision in a cluster of some size; {@link DecisionCostTest} loads it with the counted classes. */
public final class DecisionCost extends TestQuotaReplicas implements Function<Map<String, Integer>, Runnable> {
    private static final int LIMIT = 1_000_000;

    /** A cluster without anything. */
    public DecisionCost() {}

    private static GpuQuota quota(String name, String namespace, int limit) {
        return new GpuQuota(
                name,
                "1",
                Set.of(namespace),
                LabelSelector.NOTHING,
                List.of(new QuotaLimit("A100", limit), new QuotaLimit("*", LIMIT)),
                GpuQuota.Mode.ENFORCE,
                GpuQuota.AmbiguousModel.DENY,
                QuotaStatus.NONE);
    }

    /**
     * The last of a few decisions about pods of one GPU in the namespace {@code ml}.
     *
     * @param sizes {@code quotas} and {@code pods} of other namespaces, {@code refused} quotas of others that cannot be written,
     *     {@code own} quotas of the namespace, {@code ownPods}, and {@code limit} of A100 GPUs
     */
    @Override
    public Runnable apply(Map<String, Integer> sizes) {
        int foreign = sizes.getOrDefault("quotas", 0);
        for (int i = 0; i < foreign; i++) {
            cluster.put(quota("foreign-" + i, "other-" + i, LIMIT));
        }
        for (int i = 0; i < sizes.getOrDefault("refused", 0); i++) {
            cluster.put(quota("a-refused-" + i, "refused-" + i, LIMIT));
            cluster.refuse("a-refused-" + i);
        }
        for (int i = 0; i < sizes.getOrDefault("own", 1); i++) {
            cluster.put(quota("q" + i, "ml", sizes.getOrDefault("limit", LIMIT)));
        }
        for (int i = 0; i < sizes.getOrDefault("pods", 0); i++) {
            cluster.pod(in("other-" + i % Math.max(1, foreign), a100Pod(1)));
        }
        for (int i = 0; i < sizes.getOrDefault("ownPods", 0); i++) {
            cluster.pod(a100Pod(1));
        }
        var replica = new Replica("r0");
        for (int i = 0; i < foreign; i++) {
            replica.observe(new QuotaEvent.NamespaceObserved("other-" + i, Map.of()));
        }
        replica.listed().begin();
        for (int i = 0; i < 10; i++) {
            replica.admits(a100Pod(1));
        }
        GpuPod last = TestQuotas.pod(Integer.MAX_VALUE, 1, TestQuotas.A100);
        return () -> {
            if (!replica.ask(last, false).isDone()) {
                throw new AssertionError("the decision waits");
            }
        };
    }
}
