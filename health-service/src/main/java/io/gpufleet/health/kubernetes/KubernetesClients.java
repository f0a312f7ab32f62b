package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Kubeconfig;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.util.Map;

/** Opens the Kubernetes client of the process. */
public final class KubernetesClients {
    private static final int CONNECT_MILLIS = 5_000;
    private static final int REQUEST_MILLIS = 10_000;

    private KubernetesClients() {}

    /** A client by {@code KUBECONFIG}, or by the service account of the pod. Does not call the API server yet. */
    public static KubernetesClient open(Map<String, String> environment) {
        String kubeconfig = environment.getOrDefault("KUBECONFIG", "");
        try {
            Config config = new ConfigBuilder(
                            Kubeconfig.read(kubeconfig, Config::fromKubeconfig, () -> Config.autoConfigure(null)))
                    .withConnectionTimeout(CONNECT_MILLIS)
                    .withRequestTimeout(REQUEST_MILLIS)
                    // The reconciler retries and logs by itself.
                    .withRequestRetryBackoffLimit(0)
                    .withUserAgent("gpufleet-health")
                    .build();
            config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
            return new KubernetesClientBuilder().withConfig(config).build();
        } catch (KubernetesClientException | IllegalArgumentException unusable) {
            throw new ConfigurationException(
                    "KUBECONFIG='" + kubeconfig + "' cannot be used: " + ApiErrors.oneLine(unusable));
        }
    }
}
