package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.gpufleet.allocation.app.quota.ResourceClaimReader;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.HashMap;
import java.util.Map;

/** ResourceClaims of an API server that has {@code resource.k8s.io/v1} (Kubernetes 1.34). */
final class ResourceClaimApi {
    static final ResourceDefinitionContext CONTEXT = new ResourceDefinitionContext.Builder()
            .withGroup("resource.k8s.io")
            .withVersion("v1")
            .withKind("ResourceClaim")
            .withPlural("resourceclaims")
            .withNamespaced(true)
            .build();

    private ResourceClaimApi() {}

    /** True also while the API server does not answer: what it has is then seen by the list. */
    static boolean supportedBy(KubernetesClient client) {
        try {
            return client.supports(CONTEXT.getGroup() + "/" + CONTEXT.getVersion(), CONTEXT.getKind());
        } catch (KubernetesClientException unknown) {
            return true;
        }
    }

    static GpuPod read(GenericKubernetesResource claim) {
        Map<String, Object> object = new HashMap<>(claim.getAdditionalProperties());
        Map<String, Object> metadata = new HashMap<>();
        metadata.put("name", claim.getMetadata().getName());
        metadata.put("generateName", claim.getMetadata().getGenerateName());
        metadata.put("uid", claim.getMetadata().getUid());
        object.put("metadata", metadata);
        return ResourceClaimReader.read(object, claim.getMetadata().getNamespace(), "");
    }
}
