package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.health.app.Authorizer;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contract on the fake API server. */
class NodeClientFakeApiServerIT implements NodeClientContract {
    @TempDir
    private static Path dir;

    private static FakeApiServer api;
    private static KubernetesClient client;

    @BeforeAll
    static void start() throws IOException {
        api = FakeApiServer.start("127.0.0.1", 0);
        client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(Files.readString(api.kubeconfig(dir.resolve("kubeconfig")))))
                .build();
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

    @Test
    void knownUserIsAllowedAndUnknownTokenIsNot() {
        var authorizer = new KubernetesAuthorizer(client);
        var request = new Authorizer.AccessRequest("quarantine", "devices", "GPU-1");

        assertThat(authorizer.authorize("admin", request)).isEqualTo(new Authorizer.AccessResult.Allowed("admin"));
        assertThat(authorizer.authorize("made-up", request)).isEqualTo(new Authorizer.AccessResult.Unauthenticated());
    }

    @Test
    void unavailableApiServerIsAResultAndNoException() {
        FakeApiServer gone = FakeApiServer.start("127.0.0.1", 0);
        gone.close();
        try (KubernetesClient unreachable = clientAt(gone.url())) {
            assertThat(new KubernetesAuthorizer(unreachable)
                            .authorize("admin", new Authorizer.AccessRequest("release", "nodes", NODE)))
                    .isInstanceOf(Authorizer.AccessResult.Unavailable.class);
        }
    }

    private static KubernetesClient clientAt(String url) {
        return new KubernetesClientBuilder()
                .withConfig(new io.fabric8.kubernetes.client.ConfigBuilder(Config.empty())
                        .withMasterUrl(url)
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }
}
