package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Contracts on the API server of GPUFLEET_TEST_KUBECONFIG. */
class NodeClientClusterIT implements NodeClientContract, NodePatchContract {
    private static KubernetesClient client;

    @BeforeAll
    static void open() throws IOException {
        Config config = Config.fromKubeconfig(Files.readString(Path.of(System.getenv("GPUFLEET_TEST_KUBECONFIG"))));
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        client = new KubernetesClientBuilder().withConfig(config).build();
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @Override
    public KubernetesClient client() {
        return client;
    }
}
