package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Contract on the fake API server. */
class PodClientFakeApiServerIT implements PodClientContract {
    @TempDir
    private static Path dir;

    private static FakeApiServer api;
    private static KubernetesClient client;

    @BeforeAll
    static void start() throws IOException {
        api = FakeApiServer.start("127.0.0.1", 0);
        Config config = Config.fromKubeconfig(Files.readString(api.kubeconfig(dir.resolve("kubeconfig"))));
        config.setRequestRetryBackoffLimit(0);
        client = new KubernetesClientBuilder().withConfig(config).build();
    }

    @AfterAll
    static void end() {
        client.close();
        api.close();
    }

    @Override
    public KubernetesClient client() {
        return client;
    }
}
