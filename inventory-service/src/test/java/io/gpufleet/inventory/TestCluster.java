package io.gpufleet.inventory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.inventory.config.InventoryConfig;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestDaemon;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;

/** The surroundings of the service: a real broker with the topics, and the fake API server. */
final class TestCluster implements AutoCloseable {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final TestBed bed;
    private final KubernetesClient client;

    TestCluster(Path dir) {
        bed = TestBed.start(dir);
        client = bed.client();
    }

    TestDaemon daemon(String node) {
        return new TestDaemon(bed.broker().bootstrap(), bed.codec(), node);
    }

    EventReader reader(Topic topic, String key) {
        return new EventReader(bed.broker().bootstrap(), bed.codec(), key, topic);
    }

    KubernetesClient kubernetes() {
        return client;
    }

    InventoryMain.RunningReplica startReplica(String instance, Shutdown shutdown) {
        Environment settings = Environment.read(
                Map.of(
                        "GPUFLEET_CLUSTER",
                        TestBed.CLUSTER,
                        "GPUFLEET_KAFKA",
                        bed.broker().bootstrap(),
                        "GPUFLEET_INSTANCE",
                        instance,
                        "GPUFLEET_HTTP_HOST",
                        "127.0.0.1",
                        "GPUFLEET_HTTP_PORT",
                        "0",
                        "GPUFLEET_GRPC_PORT",
                        "0"),
                InventoryConfig.SETTINGS);
        return InventoryMain.start(
                settings, shutdown, Map.of("KUBECONFIG", bed.kubeconfig().toString()));
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

    static JsonNode get(InventoryMain.RunningReplica replica, String path) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + replica.http() + path))
                .build();
        return new ObjectMapper()
                .readTree(
                        HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }

    @Override
    public void close() {
        bed.close();
    }
}
