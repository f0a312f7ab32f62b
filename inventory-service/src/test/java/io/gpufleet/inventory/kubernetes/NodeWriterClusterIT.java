package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.inventory.app.NodeWriter.ApplyResult;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The contract against a real API server, on Node objects of its own, which are removed afterwards. */
class NodeWriterClusterIT extends NodeWriterContract {
    private static KubernetesClient client;

    @BeforeAll
    static void open() throws Exception {
        String file = Objects.requireNonNull(
                System.getenv("GPUFLEET_TEST_KUBECONFIG"), "GPUFLEET_TEST_KUBECONFIG names the cluster to test on");
        Config config = Config.fromKubeconfig(Files.readString(Path.of(file)));
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        client = new KubernetesClientBuilder().withConfig(config).build();
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @Override
    KubernetesClient client() {
        return client;
    }

    /** Not in the contract: the fake API server validates no label values. */
    @Test
    void invalidValueIsAFailureWithTheReason() {
        assertThat(writer().apply(name, uid, labelSet(Map.of("gpu-type", "not legal!"))))
                .isInstanceOfSatisfying(
                        ApplyResult.Failed.class,
                        failed -> assertThat(failed.reason()).contains("not legal!"));
    }
}
