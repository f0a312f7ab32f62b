package io.gpufleet.testbed.fakekubelet;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the API server of GPUFLEET_TEST_KUBECONFIG. */
class NodeContractClusterIT implements NodeContract {
    @TempDir
    Path directory;

    private TestNode node;

    @BeforeEach
    void start() throws IOException {
        node = TestNode.start(Path.of(System.getenv("GPUFLEET_TEST_KUBECONFIG")), directory);
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
    public FakeKubelet kubelet() {
        return node.kubelet();
    }

    @Override
    public TestDevicePlugin plugin() {
        return node.plugin();
    }
}
