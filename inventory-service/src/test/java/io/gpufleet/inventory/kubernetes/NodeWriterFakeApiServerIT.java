package io.gpufleet.inventory.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract against the fake API server. */
class NodeWriterFakeApiServerIT extends NodeWriterContract {
    private static FakeApiServer api;
    private static KubernetesClient client;

    @BeforeAll
    static void open(@TempDir Path dir) throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        String kubeconfig = Files.readString(api.kubeconfig(dir.resolve("kubeconfig")));
        client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(kubeconfig))
                .build();
    }

    @AfterAll
    static void close() {
        client.close();
        api.close();
    }

    @Override
    KubernetesClient client() {
        return client;
    }
}
