package io.gpufleet.compose.kubelet;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.compose.kubeapi.KubeApi;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** On the stand-in API. */
class StandInNodeIT implements NodeContract {
    @TempDir
    Path directory;

    private KubeApi api;
    private PlayedNode node;

    @BeforeEach
    void play() throws IOException {
        api = KubeApi.start("127.0.0.1", 0);
        node = PlayedNode.start(api.kubeconfig(directory.resolve("kubeconfig")), directory);
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
    public StandInKubelet kubelet() {
        return node.kubelet();
    }

    @Override
    public SmallPlugin plugin() {
        return node.plugin();
    }
}
