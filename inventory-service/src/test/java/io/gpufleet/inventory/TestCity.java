package io.gpufleet.inventory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.compose.kubeapi.KubeApi;
import io.gpufleet.inventory.config.InventoryConfig;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** What stands around the service: a real broker with the topics, and the stand-in Kubernetes API. */
final class TestCity implements AutoCloseable {
    static final String CLUSTER = "it";
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final BrokerProcess broker;
    private final KubeApi api;
    private final Path kubeconfig;
    private final KubernetesClient client;

    TestCity(Path dir) throws IOException {
        broker = BrokerProcess.start(dir.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        api = KubeApi.start("127.0.0.1", 0);
        kubeconfig = api.kubeconfig(dir.resolve("kubeconfig"));
        client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(Files.readString(kubeconfig)))
                .build();
    }

    String kafka() {
        return broker.bootstrap();
    }

    KubernetesClient kubernetes() {
        return client;
    }

    InventoryMain.Running replica(String instance, Shutdown shutdown) {
        Environment settings = Environment.read(
                Map.of(
                        "GPUFLEET_CLUSTER",
                        CLUSTER,
                        "GPUFLEET_KAFKA",
                        broker.bootstrap(),
                        "GPUFLEET_INSTANCE",
                        instance,
                        "GPUFLEET_HTTP_HOST",
                        "127.0.0.1",
                        "GPUFLEET_HTTP_PORT",
                        "0",
                        "GPUFLEET_GRPC_PORT",
                        "0"),
                InventoryConfig.SETTINGS);
        return InventoryMain.start(settings, shutdown, Map.of("KUBECONFIG", kubeconfig.toString()));
    }

    /** A Node in the boot {@code boot-<name>}. */
    void createNode(String name, Map<String, String> labels) {
        client.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withLabels(labels)
                        .endMetadata()
                        .build())
                .create();
        client.nodes()
                .withName(name)
                .editStatus(node -> new NodeBuilder(node)
                        .withNewStatus()
                        .withNewNodeInfo()
                        .withBootID("boot-" + name)
                        .endNodeInfo()
                        .endStatus()
                        .build());
    }

    Map<String, String> labels(String node) {
        return client.nodes().withName(node).get().getMetadata().getLabels();
    }

    static JsonNode get(InventoryMain.Running replica, String path) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + replica.http() + path))
                .build();
        return new ObjectMapper()
                .readTree(
                        HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }

    @Override
    public void close() {
        client.close();
        api.close();
        broker.close();
    }
}
