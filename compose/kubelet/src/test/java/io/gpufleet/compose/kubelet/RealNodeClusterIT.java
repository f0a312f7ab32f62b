package io.gpufleet.compose.kubelet;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** On the real API server of GPUFLEET_TEST_KUBECONFIG. */
class RealNodeClusterIT implements NodeContract {
    @TempDir
    Path directory;

    private PlayedNode node;

    @BeforeEach
    void play() throws IOException {
        node = PlayedNode.start(Path.of(System.getenv("GPUFLEET_TEST_KUBECONFIG")), directory);
    }

    @AfterEach
    void end() throws IOException {
        for (String pod : List.of("brief", "lasting", "refused")) {
            client().pods()
                    .inNamespace(NAMESPACE)
                    .withName(pod)
                    .withGracePeriod(0)
                    .delete();
        }
        client().nodes().withName(NODE).delete();
        node.close();
    }

    @Override
    public KubernetesClient client() {
        return node.client();
    }

    @Override
    public StandInKubelet kubelet() {
        return node.kubelet();
    }

    @Override
    public SmallPlugin plugin() {
        return node.plugin();
    }
}
