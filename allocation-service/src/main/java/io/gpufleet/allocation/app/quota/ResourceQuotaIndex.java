package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ApiServerException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits of GPUs in ResourceQuotas of Kubernetes, by the GpuQuota that covers their namespace: whichever is lower refuses a
 * pod, but for {@code limits.nvidia.com/gpu}, which Kubernetes counts nothing by. Asked for at most every 10 s.
 */
public final class ResourceQuotaIndex {
    /**
     * One resource that a ResourceQuota limits.
     *
     * @param resource as the ResourceQuota names it, for example {@code requests.nvidia.com/gpu}
     * @param hard what may be used, a quantity
     * @param used what is used as Kubernetes counts it, a quantity; empty before it has counted, and where it counts nothing
     */
    public record ResourceLimit(String namespace, String resourceQuota, String resource, String hard, String used) {}

    /** ResourceQuotas at the API server. */
    @FunctionalInterface
    public interface ResourceQuotaClient {
        /** Limits of GPUs in all namespaces. Blocks. */
        List<ResourceLimit> gpuLimits() throws ApiServerException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(ResourceQuotaIndex.class);
    private static final long MAX_AGE = Duration.ofSeconds(10).toNanos();

    private final ResourceQuotaClient client;
    private final Function<Set<String>, CompletionStage<Map<String, List<String>>>> covering;
    private final Executor calls;
    private final LongSupplier nanos;
    private CompletableFuture<List<ResourceLimit>> limits = new CompletableFuture<>();
    private long readAt;
    private boolean read;

    /**
     * An index that has asked nothing.
     *
     * @param covering names of the GpuQuotas that cover each of some namespaces
     * @param calls runs a call to the API server
     * @param nanos monotonic time
     */
    public ResourceQuotaIndex(
            ResourceQuotaClient client,
            Function<Set<String>, CompletionStage<Map<String, List<String>>>> covering,
            Executor calls,
            LongSupplier nanos) {
        this.client = client;
        this.covering = covering;
        this.calls = calls;
        this.nanos = nanos;
    }

    /** The limits by name of the GpuQuota; none where the API server does not tell. */
    public CompletionStage<Map<String, List<ResourceLimit>>> byQuota() {
        return limits().thenCompose(found -> covering.apply(
                        found.stream().map(ResourceLimit::namespace).collect(Collectors.toSet()))
                .thenApply(quotas -> byQuota(found, quotas)));
    }

    private static Map<String, List<ResourceLimit>> byQuota(
            List<ResourceLimit> found, Map<String, List<String>> quotas) {
        Map<String, List<ResourceLimit>> byQuota = new TreeMap<>();
        for (ResourceLimit limit : found) {
            for (String quota : quotas.getOrDefault(limit.namespace(), List.of())) {
                byQuota.computeIfAbsent(quota, _ -> new ArrayList<>()).add(limit);
            }
        }
        return byQuota;
    }

    private synchronized CompletionStage<List<ResourceLimit>> limits() {
        long now = nanos.getAsLong();
        if (!read || now - readAt >= MAX_AGE && limits.isDone()) {
            read = true;
            readAt = now;
            limits = CompletableFuture.supplyAsync(this::ask, calls);
        }
        return limits;
    }

    private List<ResourceLimit> ask() {
        try {
            return client.gpuLimits();
        } catch (ApiServerException | RuntimeException failed) {
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("ResourceQuotas are not shown");
            return List.of();
        }
    }
}
