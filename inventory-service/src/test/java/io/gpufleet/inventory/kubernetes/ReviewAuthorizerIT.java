package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import io.gpufleet.runtime.kubernetes.KubernetesClients;
import io.gpufleet.runtime.kubernetes.ReviewAuthorizer;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reviews of the fake API server, which allows everything to its administrator. */
class ReviewAuthorizerIT {
    private static final AccessRequest LIST = new AccessRequest("gpufleet.io", "nodes", "list", "", "");

    @TempDir
    private Path dir;

    @Test
    void tokenIsReviewedByTheApiServer() throws Exception {
        var api = FakeApiServer.start("127.0.0.1", 0);
        Map<String, String> environment =
                Map.of("KUBECONFIG", api.kubeconfig(dir.resolve("kubeconfig")).toString());
        try (var client = KubernetesClients.connect(environment, "gpufleet-inventory", "list nodes")) {
            var authorizer = new ReviewAuthorizer(client, System::nanoTime);
            assertThat(authorizer.authorize("admin", LIST)).isEqualTo(new AccessResult.Allowed("admin"));
            assertThat(authorizer.authorize("unknown", LIST)).isEqualTo(new AccessResult.Unauthenticated());

            api.close();

            assertThat(authorizer.authorize("admin", LIST)).isEqualTo(new AccessResult.Allowed("admin"));
            assertThat(authorizer.authorize("new", LIST)).isInstanceOf(AccessResult.Unavailable.class);
        }
    }
}
