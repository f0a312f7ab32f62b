package io.gpufleet.testbed.fakeapiserver;

import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.io.File;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on the API server of GPUFLEET_TEST_KUBECONFIG; deletes all its objects. */
class ApiServerContractClusterIT implements ApiServerContract {
    private KubernetesClient client;
    private TestObjects testObjects;

    @BeforeAll
    void connect() {
        String kubeconfig = Objects.requireNonNull(
                System.getenv("GPUFLEET_TEST_KUBECONFIG"), "GPUFLEET_TEST_KUBECONFIG names no cluster");
        Config config = new ConfigBuilder(Config.fromKubeconfig(new File(kubeconfig)))
                .withRequestRetryBackoffLimit(0)
                .build();
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        client = new KubernetesClientBuilder().withConfig(config).build();
        testObjects = new TestObjects(client);
    }

    @AfterAll
    void disconnect() {
        testObjects.close();
        client.close();
    }

    @Override
    public TestObjects testObjects() {
        return testObjects;
    }

    @Override
    public String knownToken() {
        return client.serviceAccounts()
                .inNamespace(testObjects.namespace())
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
