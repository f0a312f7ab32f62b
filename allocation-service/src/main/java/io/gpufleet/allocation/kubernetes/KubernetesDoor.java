package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
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
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the way to the API server that {@code KUBECONFIG} or the pod names, or says plainly that it is closed. */
public final class KubernetesDoor {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesDoor.class);
    private static final int REQUEST_MILLIS = 5_000;

    private KubernetesDoor() {}

    /** A client; one that is refused stops the start, one that gets no answer does not. */
    public static KubernetesClient open(Map<String, String> environment) {
        String file = environment.getOrDefault("KUBECONFIG", "");
        Config config = new ConfigBuilder(named(file))
                .withRequestTimeout(REQUEST_MILLIS)
                .withConnectionTimeout(REQUEST_MILLIS)
                .withRequestRetryBackoffLimit(0)
                .build();
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        KubernetesClient client =
                new KubernetesClientBuilder().withConfig(config).build();
        try {
            client.nodes().list(new ListOptionsBuilder().withLimit(1L).build());
            LOG.atInfo().addKeyValue("server", config.getMasterUrl()).log("Kubernetes answers");
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == 401 || failed.getCode() == 403) {
                client.close();
                throw new ConfigurationException("the Kubernetes API at " + config.getMasterUrl() + " refuses us with "
                        + failed.getCode() + " (KUBECONFIG="
                        + (file.isEmpty() ? "not set, so the pod's service account" : file)
                        + "): use credentials that may list and watch nodes, pods and gpuquotas");
            }
            LOG.atWarn()
                    .addKeyValue("server", config.getMasterUrl())
                    .addKeyValue("error", failed.getMessage())
                    .log("Kubernetes does not answer yet, will try again");
        }
        return client;
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
