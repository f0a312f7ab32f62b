package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.allocation.app.ApiServerException;

/** The namespace of this service, which is missing without the manifests, as on a laptop. */
final class NamespaceCreator {
    private static final int CONFLICT = 409;

    private NamespaceCreator() {}

    static void create(KubernetesClient client, String namespace) throws ApiServerException {
        try {
            client.namespaces()
                    .resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(namespace)
                            .endMetadata()
                            .build())
                    .create();
        } catch (KubernetesClientException failed) {
            if (failed.getCode() != CONFLICT) {
                throw new ApiServerException(
                        "namespace " + namespace + " does not exist: kubectl create namespace " + namespace, failed);
            }
        }
    }
}
