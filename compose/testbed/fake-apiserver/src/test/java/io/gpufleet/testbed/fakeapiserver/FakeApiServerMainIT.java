package io.gpufleet.testbed.fakeapiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The fake API server as a process, and its own messages. */
class FakeApiServerMainIT {
    @TempDir
    Path directory;

    private Process start(Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                FakeApiServerMain.class.getName());
        builder.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        builder.environment().putAll(environment);
        return builder.redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
    }

    @Test
    void processWritesKubeconfigAndExitsOnSigterm() throws Exception {
        // Given
        Path kubeconfig = directory.resolve("kubeconfig");
        Process process =
                start(Map.of("GPUFLEET_FAKE_APISERVER_PORT", "0", "GPUFLEET_STATE_DIR", directory.toString()));
        try {
            // When
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(kubeconfig));
            // Then
            try (KubernetesClient client = new KubernetesClientBuilder()
                    .withConfig(Config.fromKubeconfig(kubeconfig.toFile()))
                    .build()) {
                assertThat(client.namespaces().list().getItems())
                        .extracting(namespace -> namespace.getMetadata().getName())
                        .contains("default", "kube-system");
                assertThat(client.getKubernetesVersion().getGitVersion()).contains("fake");
            }
        } finally {
            process.destroy();
        }
        assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void portInUseIsReportedInOneLine() throws Exception {
        // Given
        try (ServerSocket taken = new ServerSocket(0, 1, java.net.InetAddress.getByName("127.0.0.1"))) {
            String port = Integer.toString(taken.getLocalPort());
            // When
            Process process = start(Map.of("GPUFLEET_FAKE_APISERVER_PORT", port));
            int exit = process.waitFor();
            // Then
            assertThat(exit).isEqualTo(2);
            assertThat(Files.readAllLines(directory.resolve("log")))
                    .containsExactly("fake-apiserver: GPUFLEET_FAKE_APISERVER_PORT=" + port
                            + " cannot be opened on 127.0.0.1: the port is in use; stop the program that uses it or"
                            + " choose another port");
        }
    }

    @Test
    void matchConditionsCauseWarningAndUnknownTokensAreRefused() throws Exception {
        try (FakeApiServer api = FakeApiServer.start("127.0.0.1", 0);
                HttpClient http = HttpClient.newHttpClient()) {
            // When
            HttpResponse<String> registered = http.send(
                    HttpRequest.newBuilder(URI.create(api.url()
                                    + "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"))
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString(
                                    "{\"metadata\":{\"name\":\"quota\"},\"webhooks\":[{\"name\":\"a.b.c\","
                                            + "\"matchConditions\":[{\"name\":\"gpus\",\"expression\":\"true\"}]}]}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
            HttpResponse<String> refused = http.send(
                    HttpRequest.newBuilder(URI.create(api.url() + "/api/v1/nodes"))
                            .header("Authorization", "Bearer wrong")
                            .build(),
                    HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
            // Then
            assertThat(registered.statusCode()).isEqualTo(201);
            assertThat(registered.headers().allValues("Warning"))
                    .isEqualTo(List.of("299 - \"fake API server: matchConditions of webhook a.b.c are CEL and not"
                            + " evaluated; it is called as if all of them matched\""));
            assertThat(refused.statusCode()).isEqualTo(401);
        }
    }
}
