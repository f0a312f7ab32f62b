package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.inventory.app.LabelWriter.Outcome;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A real API server keeps what the room needs; on Node objects of its own, removed afterwards. */
class LabelsClusterIT extends LabelsContract {
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

    /** The stand-in has no schemas. */
    @Test
    void illegalValueIsAFailureThatSaysWhy() {
        assertThat(labels().apply(name, uid, set(Map.of("gpu-type", "not legal!"))))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.reason()).contains("not legal!"));
    }
}
