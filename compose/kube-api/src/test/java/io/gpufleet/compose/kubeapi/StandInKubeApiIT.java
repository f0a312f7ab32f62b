package io.gpufleet.compose.kubeapi;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the stand-in, reached as everybody reaches it: by its kubeconfig. */
class StandInKubeApiIT implements KubeApiContract {
    private KubeApi api;
    private KubernetesClient client;
    private Ground ground;

    @BeforeAll
    void start(@TempDir Path folder) {
        api = KubeApi.start("127.0.0.1", 0);
        Path kubeconfig = api.kubeconfig(folder.resolve("kubeconfig"));
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.fromKubeconfig(kubeconfig.toFile()))
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
        ground = new Ground(client);
    }

    @AfterAll
    void stop() {
        ground.close();
        client.close();
        api.close();
    }

    @Override
    public Ground ground() {
        return ground;
    }

    @Override
    public String knownToken() {
        return "admin";
    }
}
