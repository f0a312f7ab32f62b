package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClient;

/** The replicas to which the webhook's Service leads. */
final class WebhookEndpointSlices {
    private static final String SERVICE_LABEL = "kubernetes.io/service-name";

    private final KubernetesClient client;
    private final String namespace;
    private final boolean byUrl;
    private boolean readyBefore;

    WebhookEndpointSlices(KubernetesClient client, String namespace, boolean byUrl) {
        this.client = client;
        this.namespace = namespace;
        this.byUrl = byUrl;
    }

    /**
     * True when a replica is ready for the second time in a row: the nodes need about a second to learn of the first. A URL
     * leads to this process, which listens.
     */
    boolean ready() {
        if (byUrl) {
            return true;
        }
        boolean before = readyBefore;
        readyBefore = client
                .discovery()
                .v1()
                .endpointSlices()
                .inNamespace(namespace)
                .withLabel(SERVICE_LABEL, WebhookRegistration.SERVICE)
                .list()
                .getItems()
                .stream()
                .flatMap(slice -> slice.getEndpoints().stream())
                .anyMatch(endpoint -> endpoint.getConditions() != null
                        && Boolean.TRUE.equals(endpoint.getConditions().getReady()));
        return before && readyBefore;
    }
}
