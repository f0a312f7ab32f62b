package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.compose.kubeapi.KubeApi;
import io.gpufleet.health.app.Authority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On the stand-in API server. */
class StandInNodeMarksIT implements NodeMarksContract {
    @TempDir
    private static Path dir;

    private static KubeApi api;
    private static KubernetesClient client;

    @BeforeAll
    static void start() throws IOException {
        api = KubeApi.start("127.0.0.1", 0);
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
    void whoIsKnownMayAndWhoIsNotMayNot() {
        var authority = new KubernetesAuthority(client);
        var deed = new Authority.Deed("quarantine", "devices", "GPU-1");

        assertThat(authority.ask("admin", deed)).isEqualTo(new Authority.Verdict.Allowed("admin"));
        assertThat(authority.ask("made-up", deed)).isEqualTo(new Authority.Verdict.Unknown());
    }

    @Test
    void anApiServerThatIsAwayIsAReasonAndNoException() {
        KubeApi gone = KubeApi.start("127.0.0.1", 0);
        Path config = gone.kubeconfig(dir.resolve("gone"));
        gone.close();
        try (KubernetesClient nobody = KubernetesDoor.open(config.toString())) {
            assertThat(new KubernetesAuthority(nobodyAt(gone.url()))
                            .ask("admin", new Authority.Deed("release", "nodes", NODE)))
                    .isInstanceOf(Authority.Verdict.Unanswered.class);
            assertThat(nobody.getConfiguration().getRequestRetryBackoffLimit()).isZero();
        }
    }

    private static KubernetesClient nobodyAt(String url) {
        return new KubernetesClientBuilder()
                .withConfig(new io.fabric8.kubernetes.client.ConfigBuilder(Config.empty())
                        .withMasterUrl(url)
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }
}
