package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.runtime.kubernetes.ReviewAuthorizer;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contracts on the fake API server. */
class NodeClientFakeApiServerIT implements NodeClientContract, NodePatchContract, NodeTaintContract {
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
    void eventIsNotWrittenWithoutALease() {
        var requests = new CopyOnWriteArrayList<String>();
        var lease = new CurrentLease();
        lease.begin(() -> {
            requests.add("asked");
            return false;
        });
        ObservedNode observed = ((NodeResponse.Succeeded) new KubernetesNodeClient(
                                client,
                                new NodeEventRecorder(client, lease, Clock.systemUTC()),
                                Clock.systemUTC(),
                                () -> Duration.ZERO)
                        .read(NODE))
                .node();

        try (var events = new NodeEventRecorder(client, lease, Clock.systemUTC())) {
            events.recordEvent(observed, true, "Xid79", "1 GPU out of service");
            await().atMost(TIMEOUT).until(() -> !requests.isEmpty());
        }

        assertThat(client.v1()
                        .events()
                        .inNamespace("default")
                        .withName(NodeEventRecorder.name(observed, "Xid79"))
                        .get())
                .isNull();
    }

    @Test
    void knownUserIsAllowedAndUnknownTokenIsNot() {
        var authorizer = ReviewAuthorizer.uncached(client);
        var request = new Authorizer.AccessRequest("gpufleet.io", "devices", "quarantine", "", "GPU-1");

        assertThat(authorizer.authorize("admin", request)).isEqualTo(new Authorizer.AccessResult.Allowed("admin"));
        assertThat(authorizer.authorize("made-up", request)).isEqualTo(new Authorizer.AccessResult.Unauthenticated());
    }

    @Test
    void unavailableApiServerIsAResultAndNoException() {
        FakeApiServer gone = FakeApiServer.start("127.0.0.1", 0);
        gone.close();
        try (KubernetesClient unreachable = clientAt(gone.url())) {
            assertThat(ReviewAuthorizer.uncached(unreachable)
                            .authorize(
                                    "admin", new Authorizer.AccessRequest("gpufleet.io", "nodes", "release", "", NODE)))
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
