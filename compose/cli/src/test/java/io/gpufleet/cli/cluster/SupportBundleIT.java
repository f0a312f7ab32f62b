package io.gpufleet.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bundle about a cluster of some hundred Nodes. */
class SupportBundleIT {
    private static final int NODES = 230;

    @TempDir
    private Path dir;

    private final List<String> requests = new CopyOnWriteArrayList<>();

    private KubernetesClient client(FakeApiServer api) {
        Interceptor recording = new Interceptor() {
            @Override
            public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                requests.add(request.uri().getPath() + "?" + request.uri().getQuery());
            }
        };
        return new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(
                        api.kubeconfig(dir.resolve("kubeconfig")).toFile()))
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("recording", recording))
                .build();
    }

    private static String entry(Path file, String name) throws IOException {
        try (var zip = new ZipFile(file.toFile())) {
            return new String(zip.getInputStream(zip.getEntry(name)).readAllBytes(), UTF_8);
        }
    }

    @Test
    void nodesAreReadByPagesAndEachIsThereOnce() throws IOException {
        Path file = dir.resolve("bundle.zip");
        try (FakeApiServer api = FakeApiServer.start("127.0.0.1", 0);
                KubernetesClient client = client(api)) {
            IntStream.range(0, NODES)
                    .forEach(node -> client.resource(new NodeBuilder()
                                    .withNewMetadata()
                                    .withName("node-" + node)
                                    .endMetadata()
                                    .build())
                            .create());
            requests.clear();
            // When
            new SupportBundle(client).write(file, List.of());
        }
        // Then
        assertThat(requests)
                .filteredOn(request -> request.startsWith("/api/v1/nodes?"))
                .hasSize(3)
                .allMatch(request -> request.contains("limit=100"));
        assertThat(entry(file, "nodes.yaml").lines().filter(line -> line.startsWith("  name: ")))
                .hasSize(NODES)
                .doesNotHaveDuplicates()
                .allMatch(line -> line.contains("node-"));
    }
}
