package io.gpufleet.testbed.testkit;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.nio.file.Path;

/** Kubernetes clients of tests. */
public final class TestKubernetes {
    private TestKubernetes() {}

    /** The client of a kubeconfig, whatever the algorithm of its key is. */
    public static KubernetesClient client(Path kubeconfig) {
        Config config = Config.fromKubeconfig(kubeconfig.toFile());
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        return new KubernetesClientBuilder().withConfig(config).build();
    }
}
