package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.cli.health.HealthClient;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.tls.TrustedAuthorities;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** HTTP and gRPC of the installed services, as a client in the cluster uses them. */
final class ServiceHttps {
    private static final List<String> NAMES = List.of("inventory-service", "health-service", "allocation-service");
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private ServiceHttps() {}

    /** Every replica answers by the CA of the ConfigMap at its address, and none in clear text. */
    static void verify(KubernetesClient client, Path ca) throws Exception {
        Map<String, String> published = client.configMaps()
                .inNamespace(Installation.SERVICES)
                .withName("gpufleet-ca")
                .get()
                .getData();
        assertThat(published).containsOnlyKeys("ca.crt");
        Files.writeString(ca, published.getOrDefault("ca.crt", ""));
        try (var trusting = HttpClient.newBuilder()
                        .sslContext(TrustedAuthorities.tls(Files.readString(ca)))
                        .build();
                var other = HttpClient.newHttpClient()) {
            for (String name : NAMES) {
                List<Pod> pods = client.pods()
                        .inNamespace(Installation.SERVICES)
                        .withLabel("app.kubernetes.io/name", name)
                        .list()
                        .getItems();
                assertThat(pods).as(name).hasSize(2);
                for (Pod pod : pods) {
                    String host = pod.getStatus().getPodIP();
                    assertThat(status(trusting, "https://" + host + ":8080/livez"))
                            .isEqualTo(200);
                    assertThatThrownBy(() -> status(other, "https://" + host + ":8080/livez"))
                            .as("a client that does not know the CA")
                            .isInstanceOf(IOException.class);
                    assertThatThrownBy(() -> status(other, "http://" + host + ":8080/livez"))
                            .as("clear text")
                            .isInstanceOf(IOException.class);
                }
            }
            String inventory = address(client, "inventory-service");
            // gRPC answers a GET by an error of HTTP, after a handshake
            assertThat(status(trusting, "https://" + inventory + ":9090/")).isGreaterThanOrEqualTo(400);
        }
        verifyCommandLine(address(client, "health-service"), ca);
    }

    private static String address(KubernetesClient client, String service) {
        return client.pods()
                .inNamespace(Installation.SERVICES)
                .withName(service + "-0")
                .get()
                .getStatus()
                .getPodIP();
    }

    /** {@code ./gpufleet why NODE --server URL --ca FILE} without a token comes as far as the question for one. */
    private static void verifyCommandLine(String host, Path ca) {
        String server = "https://" + host + ":8080";
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThatThrownBy(() -> new HealthClient(server, "", ca).why("node0"))
                        .isInstanceOf(ConfigurationException.class)
                        .hasMessageContaining("the health-service says 401"));
        assertThatThrownBy(() -> new HealthClient(server, "").why("node0"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("is not trusted")
                .hasMessageContaining("--ca FILE");
    }

    private static int status(HttpClient client, String url) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(url)).timeout(TIMEOUT).build();
        return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }
}
