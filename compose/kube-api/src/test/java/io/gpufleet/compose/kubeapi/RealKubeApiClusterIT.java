package io.gpufleet.compose.kubeapi;

import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on the API server that GPUFLEET_TEST_KUBECONFIG names; it takes away all it made. */
class RealKubeApiClusterIT implements KubeApiContract {
    private KubernetesClient client;
    private Ground ground;

    @BeforeAll
    void connect() {
        String kubeconfig = Objects.requireNonNull(
                System.getenv("GPUFLEET_TEST_KUBECONFIG"), "GPUFLEET_TEST_KUBECONFIG names no cluster");
        Config config = new ConfigBuilder(Config.fromKubeconfig(new File(kubeconfig)))
                .withRequestRetryBackoffLimit(0)
                .build();
        if (isEllipticCurve(config.getClientKeyData())) {
            // fabric8 takes every "BEGIN PRIVATE KEY" for RSA.
            config.setClientKeyAlgo("EC");
        }
        client = new KubernetesClientBuilder().withConfig(config).build();
        ground = new Ground(client);
    }

    private static boolean isEllipticCurve(@Nullable String keyData) {
        if (keyData == null) {
            return false;
        }
        String pem = new String(Base64.getDecoder().decode(keyData), StandardCharsets.US_ASCII);
        byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
        return pem.contains("BEGIN PRIVATE KEY")
                && HexFormat.of().formatHex(der).contains("2a8648ce3d0201");
    }

    @AfterAll
    void leave() {
        ground.close();
        client.close();
    }

    @Override
    public Ground ground() {
        return ground;
    }

    @Override
    public String knownToken() {
        return client.serviceAccounts()
                .inNamespace(ground.namespace())
                .withName("default")
                .tokenRequest(new TokenRequestBuilder()
                        .withNewSpec()
                        .withExpirationSeconds(600L)
                        .endSpec()
                        .build())
                .getStatus()
                .getToken();
    }
}
