package io.gpufleet.cli.release;

import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.cli.install.Installation;
import java.util.List;

/**
 * Services named after gpufleet, as somebody may make them in its namespaces. Where a pod has service links, the kubelet sets
 * variables {@code GPUFLEET_…} by them, with which no program of ours starts.
 */
final class ServiceLinks {
    private ServiceLinks() {}

    /** Makes them; they go with the namespaces. */
    static void create(KubernetesClient client) {
        for (String namespace : List.of(Installation.SERVICES, Installation.NODES)) {
            for (String name : List.of("gpufleet", "gpufleet-kafka")) {
                client.resource(new ServiceBuilder()
                                .withNewMetadata()
                                .withNamespace(namespace)
                                .withName(name)
                                .endMetadata()
                                .withNewSpec()
                                .addNewPort()
                                .withPort(9092)
                                .endPort()
                                .endSpec()
                                .build())
                        .create();
            }
        }
    }
}
