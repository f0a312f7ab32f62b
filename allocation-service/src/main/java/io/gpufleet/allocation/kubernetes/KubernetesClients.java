package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Kubeconfig;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the client of the API server that {@code KUBECONFIG} or the service account of the pod names. */
public final class KubernetesClients {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesClients.class);
    private static final int REQUEST_MILLIS = 5_000;

    private KubernetesClients() {}

    /** Opens a client. Rejected credentials stop the start of the service, an API server that does not answer does not. */
    public static KubernetesClient open(Map<String, String> environment) {
        String file = environment.getOrDefault("KUBECONFIG", "");
        Config config = new ConfigBuilder(
                        Kubeconfig.read(file, Config::fromKubeconfig, () -> Config.autoConfigure(null)))
                .withRequestTimeout(REQUEST_MILLIS)
                .withConnectionTimeout(REQUEST_MILLIS)
                .withRequestRetryBackoffLimit(0)
                .build();
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        KubernetesClient client =
                new KubernetesClientBuilder().withConfig(config).build();
        try {
            client.nodes().list(new ListOptionsBuilder().withLimit(1L).build());
            LOG.atInfo().addKeyValue("server", config.getMasterUrl()).log("Kubernetes API reachable");
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == 401 || failed.getCode() == 403) {
                client.close();
                throw new ConfigurationException("the Kubernetes API at " + config.getMasterUrl() + " answered "
                        + failed.getCode() + " (KUBECONFIG="
                        + (file.isEmpty() ? "not set, so the pod's service account" : file)
                        + "): use credentials that may list and watch nodes, pods and gpuquotas");
            }
            LOG.atWarn()
                    .addKeyValue("server", config.getMasterUrl())
                    .addKeyValue("error", failed.getMessage())
                    .log("Kubernetes API not reachable, retrying");
        }
        return client;
    }
}
