package io.gpufleet.testbed.fakekubelet;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the fake API server. */
class NodeContractIT implements NodeContract {
    @TempDir
    Path directory;

    private FakeApiServer api;
    private TestNode node;

    @BeforeEach
    void start() throws IOException {
        api = FakeApiServer.start("127.0.0.1", 0);
        node = TestNode.start(api.kubeconfig(directory.resolve("kubeconfig")), directory);
    }

    @AfterEach
    void end() throws IOException {
        node.close();
        api.close();
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
