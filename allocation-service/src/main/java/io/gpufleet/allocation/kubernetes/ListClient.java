package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;

/** A client like another one that waits longer for an answer: a page of a list takes longer than a request. */
public final class ListClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private ListClient() {}

    /** Connects to the same server with the same credentials. */
    public static KubernetesClient like(KubernetesClient client) {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(client.getConfiguration())
                        .withRequestTimeout((int) TIMEOUT.toMillis())
                        .build())
                .build();
    }
}
