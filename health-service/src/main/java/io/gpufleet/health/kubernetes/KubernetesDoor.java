package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.nio.file.Files;
import java.nio.file.Path;

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
        for (String file : kubeconfig.split(java.io.File.pathSeparator, -1)) {
            if (!file.isEmpty() && !Files.isReadable(Path.of(file))) {
                throw new ConfigurationException(
                        "KUBECONFIG='" + kubeconfig + "': no file " + file + " can be read; name one, or unset it");
            }
        }
        try {
            Config config = new ConfigBuilder(Config.autoConfigure(null))
                    .withConnectionTimeout(CONNECT_MILLIS)
                    .withRequestTimeout(REQUEST_MILLIS)
                    // The reconciler tries again by itself, and says so.
                    .withRequestRetryBackoffLimit(0)
                    .withUserAgent("gpufleet-health")
                    .build();
            config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
            return new KubernetesClientBuilder().withConfig(config).build();
        } catch (RuntimeException unusable) {
            throw new ConfigurationException(
                    "KUBECONFIG='" + kubeconfig + "' can not be used: " + Trouble.oneLine(unusable));
        }
    }
}
