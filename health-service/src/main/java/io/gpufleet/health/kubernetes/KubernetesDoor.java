package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Kubeconfig;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;

/** Opens the client that all of this room uses. */
public final class KubernetesDoor {
    private static final int CONNECT_MILLIS = 5_000;
    private static final int REQUEST_MILLIS = 10_000;

    private KubernetesDoor() {}

    /**
     * A client by kubeconfig, or in a pod by its service account. Does not ask the API server yet.
     *
     * @param kubeconfig value of {@code KUBECONFIG}; empty when it is not set
     */
    public static KubernetesClient open(String kubeconfig) {
        try {
            Config config = new ConfigBuilder(
                            Kubeconfig.read(kubeconfig, Config::fromKubeconfig, () -> Config.autoConfigure(null)))
                    .withConnectionTimeout(CONNECT_MILLIS)
                    .withRequestTimeout(REQUEST_MILLIS)
                    // The reconciler tries again by itself, and says so.
                    .withRequestRetryBackoffLimit(0)
                    .withUserAgent("gpufleet-health")
                    .build();
            config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
            return new KubernetesClientBuilder().withConfig(config).build();
        } catch (KubernetesClientException | IllegalArgumentException unusable) {
            throw new ConfigurationException(
                    "KUBECONFIG='" + kubeconfig + "' can not be used: " + Trouble.oneLine(unusable));
        }
    }
}
