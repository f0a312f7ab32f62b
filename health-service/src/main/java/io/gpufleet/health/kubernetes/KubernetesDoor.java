package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.io.File;
import java.io.IOException;
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
        try {
            Config config = new ConfigBuilder(named(kubeconfig))
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

    /** What {@code KUBECONFIG} names; where it is not set, what fabric8 finds: the pod's account, or ~/.kube/config. */
    private static Config named(String file) {
        if (file.isEmpty() || file.contains(File.pathSeparator)) {
            return Config.autoConfigure(null);
        }
        try {
            // fabric8's own search would pass over a file that it can not read, and ask some other server.
            return Config.fromKubeconfig(Files.readString(Path.of(file)));
        } catch (IOException unreadable) {
            throw new ConfigurationException(
                    "KUBECONFIG=" + file + " can not be read: name a kubeconfig file that this process may read");
        } catch (RuntimeException malformed) {
            // fabric8 throws of what its parsers throw.
            throw new ConfigurationException("KUBECONFIG=" + file + " is no kubeconfig ("
                    + String.valueOf(malformed.getMessage()).lines().findFirst().orElse("")
                    + "): name one that kubectl takes");
        }
    }
}
