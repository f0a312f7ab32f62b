package io.gpufleet.testbed.testkit;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.nio.file.Path;
import java.util.Map;

/** Kubernetes clients of tests, and what several of them create. */
public final class TestKubernetes {
    private TestKubernetes() {}

    /** The client of a kubeconfig, whatever the algorithm of its key is. */
    public static KubernetesClient client(Path kubeconfig) {
        Config config = Config.fromKubeconfig(kubeconfig.toFile());
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** Creates a Node that is in a boot. */
    public static void createNode(KubernetesClient client, String name, String bootId, Map<String, String> labels) {
        Node node = new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .withLabels(labels)
                .endMetadata()
                .withNewStatus()
                .withNewNodeInfo()
                .withBootID(bootId)
                .endNodeInfo()
                .endStatus()
                .build();
        client.resource(node).create();
        // An API server takes no status from a creation.
        client.resource(node).patchStatus();
    }
}
