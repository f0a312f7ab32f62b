package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.quota.ResourceQuotaIndex.ResourceLimit;
import io.gpufleet.allocation.app.quota.ResourceQuotaIndex.ResourceQuotaClient;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** ResourceQuotas at the API server. */
public final class KubernetesResourceQuotas implements ResourceQuotaClient {
    private static final List<String> PREFIXES = List.of("requests.", "limits.", "");

    private final KubernetesClient client;
    private final Supplier<GpuResources> resources;

    /** Uses the client and does not close it; {@code resources} are the GPUs that are known now. */
    public KubernetesResourceQuotas(KubernetesClient client, Supplier<GpuResources> resources) {
        this.client = client;
        this.resources = resources;
    }

    @Override
    public List<ResourceLimit> gpuLimits() throws ApiServerException {
        GpuResources gpus = resources.get();
        try {
            return client.resourceQuotas().inAnyNamespace().list().getItems().stream()
                    .flatMap(quota -> limits(quota, gpus))
                    .toList();
        } catch (KubernetesClientException failed) {
            throw new ApiServerException("list of resourcequotas: " + ApiErrorMessage.of(failed), failed);
        }
    }

    private static Stream<ResourceLimit> limits(ResourceQuota quota, GpuResources gpus) {
        Map<String, Quantity> used =
                quota.getStatus() == null ? Map.of() : orEmpty(quota.getStatus().getUsed());
        return quota.getSpec() == null
                ? Stream.empty()
                : orEmpty(quota.getSpec().getHard()).entrySet().stream()
                        .filter(limit -> isGpu(limit.getKey(), gpus))
                        .map(limit -> new ResourceLimit(
                                quota.getMetadata().getNamespace(),
                                quota.getMetadata().getName(),
                                limit.getKey(),
                                limit.getValue().toString(),
                                used.containsKey(limit.getKey()) ? String.valueOf(used.get(limit.getKey())) : ""));
    }

    /** Devices of a class of DRA have no prefix; of other extended resources Kubernetes counts the one of requests only. */
    private static boolean isGpu(String limited, GpuResources gpus) {
        return PREFIXES.stream()
                .anyMatch(prefix -> limited.startsWith(prefix) && gpus.contains(limited.substring(prefix.length())));
    }

    private static Map<String, Quantity> orEmpty(@Nullable Map<String, Quantity> map) {
        return map == null ? Map.of() : map;
    }
}
