package io.gpufleet.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Kubeconfig;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import io.gpufleet.runtime.kubernetes.http.CallerThreadHttpClientFactory;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connects to the API server that {@code KUBECONFIG} or the pod names; credentials that are refused stop the start. */
public final class KubernetesClients {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesClients.class);
    private static final int REQUEST_MILLIS = 5_000;

    private KubernetesClients() {}

    /**
     * A client; one that is refused stops the start, one that gets no answer does not.
     *
     * @param userAgent names this program in the API server's audit log
     * @param rights what credentials must allow, for the line that says so, for example {@code list and watch nodes}
     */
    public static KubernetesClient connect(Map<String, String> environment, String userAgent, String rights) {
        return connect(environment, userAgent, rights, new RetryAfter(System::nanoTime), new RequestCounts());
    }

    /** As the other one; {@code retryAfter} hears every answer, {@code counts} every request. */
    public static KubernetesClient connect(
            Map<String, String> environment,
            String userAgent,
            String rights,
            RetryAfter retryAfter,
            RequestCounts counts) {
        String file = environment.getOrDefault("KUBECONFIG", "");
        Config config = new ConfigBuilder(
                        Kubeconfig.read(file, Config::fromKubeconfig, () -> Config.autoConfigure(null)))
                .withRequestTimeout(REQUEST_MILLIS)
                .withConnectionTimeout(REQUEST_MILLIS)
                .withRequestRetryBackoffLimit(0)
                .withUserAgent(userAgent)
                .build();
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        KubernetesClient client = new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(new CallerThreadHttpClientFactory())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("retry-after", retryAfter)
                        .addOrReplaceInterceptor("counts", counts))
                .build();
        try {
            client.nodes().list(new ListOptionsBuilder().withLimit(1L).build());
            LOG.atInfo().addKeyValue("server", config.getMasterUrl()).log("Kubernetes answers");
        } catch (KubernetesClientException failed) {
            if (failed.getCode() == 401 || failed.getCode() == 403) {
                client.close();
                throw new ConfigurationException("the Kubernetes API at " + config.getMasterUrl() + " refuses us with "
                        + failed.getCode() + " (KUBECONFIG="
                        + (file.isEmpty() ? "not set, so the pod's service account" : file)
                        + "): use credentials that may " + rights);
            }
            LOG.atWarn()
                    .addKeyValue("server", config.getMasterUrl())
                    .addKeyValue("error", ApiErrorMessage.of(failed))
                    .log("Kubernetes does not answer yet, will try again");
        }
        return client;
    }
}
