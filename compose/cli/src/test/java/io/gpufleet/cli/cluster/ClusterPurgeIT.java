package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A purge of a large cluster, and of one whose nodes come and go. */
class ClusterPurgeIT {
    @TempDir
    private Path directory;

    private FakeApiServer api;
    private KubernetesClient client;
    private Config config;

    @BeforeEach
    void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        File kubeconfig = api.kubeconfig(directory.resolve("kubeconfig")).toFile();
        config = new ConfigBuilder(Config.fromKubeconfig(kubeconfig))
                .withRequestRetryBackoffLimit(0)
                .build();
        client = new KubernetesClientBuilder().withConfig(config).build();
    }

    @AfterEach
    void close() {
        client.close();
        api.close();
    }

    /** Purges by a client whose requests are seen before they are sent. */
    private List<String> purge(Consumer<String> seen) {
        var lines = new CopyOnWriteArrayList<String>();
        Interceptor observer = new Interceptor() {
            @Override
            public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                seen.accept(request.method() + " " + request.uri());
            }
        };
        try (var observed = new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("observer", observer))
                .build()) {
            new ClusterPurge(observed, lines::add).removeAppliedFields();
        }
        return lines;
    }

    private void create(String name) {
        client.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .addToLabels("gpufleet.io/health", "unhealthy")
                        .addToAnnotations("gpufleet.io/applied", "{}")
                        .addToAnnotations("gpufleet.io/applied-node-taints", "nvidia.com/gpu=present:NoSchedule")
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint("NoExecute", "gpufleet.io/unhealthy", null, "true")
                        .addNewTaint("NoSchedule", "nvidia.com/gpu", null, "present")
                        .endSpec()
                        .build())
                .create();
        client.nodes()
                .withName(name)
                .patch(
                        new PatchContext.Builder()
                                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                                .withFieldManager("gpufleet-inventory")
                                .withForce(true)
                                .build(),
                        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" + name
                                + "\",\"labels\":{\"nvidia.com/gpu.count\":\"8\"}}}");
    }

    private void assertClean(String name) {
        Node node = client.nodes().withName(name).get();
        assertThat(node.getSpec().getTaints()).isEmpty();
        assertThat(node.getMetadata().getAnnotations()).isNullOrEmpty();
        assertThat(
                        node.getMetadata().getLabels() == null
                                ? Map.of()
                                : node.getMetadata().getLabels())
                .doesNotContainKeys("gpufleet.io/health", "nvidia.com/gpu.count");
    }

    @Test
    void nodesOfALargeClusterAreReadByPages() {
        for (int i = 0; i < 130; i++) {
            create("node-" + i);
        }
        var lists = new CopyOnWriteArrayList<String>();

        purge(request -> {
            if (request.matches("GET .*/api/v1/nodes(\\?.*)?")) {
                lists.add(request);
            }
        });

        assertThat(lists).hasSize(2).allMatch(request -> request.contains("limit=100"));
        assertClean("node-0");
        assertClean("node-129");
    }

    @Test
    void nodeThatIsDeletedMeanwhileIsPassedOver() {
        create("node-a");
        create("node-b");

        List<String> lines = purge(request -> {
            if (request.startsWith("PATCH") && request.contains("node-a")) {
                client.nodes().withName("node-a").withGracePeriod(0).delete();
            }
        });

        assertThat(lines).contains("node node-a: was deleted meanwhile");
        assertClean("node-b");
    }
}
