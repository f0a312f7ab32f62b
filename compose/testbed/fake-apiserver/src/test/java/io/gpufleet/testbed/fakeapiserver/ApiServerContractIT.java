package io.gpufleet.testbed.fakeapiserver;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the fake API server, through its kubeconfig. */
class ApiServerContractIT implements ApiServerContract {
    private FakeApiServer api;
    private KubernetesClient client;
    private TestObjects testObjects;

    @BeforeAll
    void start(@TempDir Path directory) {
        api = FakeApiServer.start("127.0.0.1", 0);
        Path kubeconfig = api.kubeconfig(directory.resolve("kubeconfig"));
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.fromKubeconfig(kubeconfig.toFile()))
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
        testObjects = new TestObjects(client);
    }

    @AfterAll
    void stop() {
        testObjects.close();
        client.close();
        api.close();
    }

    @Override
    public TestObjects testObjects() {
        return testObjects;
    }

    @Override
    public String knownToken() {
        return "admin";
    }
}
