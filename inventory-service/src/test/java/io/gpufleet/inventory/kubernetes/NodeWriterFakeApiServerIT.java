package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract against the fake API server. */
class NodeWriterFakeApiServerIT extends NodeWriterContract {
    private static final List<String> REQUESTS = new CopyOnWriteArrayList<>();

    private static FakeApiServer api;
    private static KubernetesClient client;

    @BeforeAll
    static void open(@TempDir Path dir) throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        String kubeconfig = Files.readString(api.kubeconfig(dir.resolve("kubeconfig")));
        client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(kubeconfig))
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("requests", new RequestLog()))
                .build();
    }

    private static final class RequestLog implements Interceptor {
        @Override
        public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            REQUESTS.add(request.method() + " " + request.uri().getPath());
        }
    }

    @AfterAll
    static void close() {
        client.close();
        api.close();
    }

    @Test
    void everyApplyIsOneRequest() {
        // Given
        var first = labelSet(Map.of("gpu-type", "h100"));
        REQUESTS.clear();
        // When
        writer().apply(name, uid, first);
        writer().apply(name, uid, LabelSet.NONE);
        writer().apply(name, "uid-of-another-node", first);
        // Then
        assertThat(REQUESTS).hasSize(3).containsOnly("PATCH /api/v1/nodes/" + name);
    }

    @Override
    KubernetesClient client() {
        return client;
    }
}
