package io.gpufleet.inventory;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.gpufleet.testbed.testkit.contract.PublishedRecords;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The surroundings of the service: a real broker with the topics, and the fake API server. */
final class TestCluster implements AutoCloseable {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final TestBed bed;
    private final KubernetesClient client;

    TestCluster(Path dir) {
        bed = TestBed.start(dir);
        client = bed.client();
    }

    DaemonEventProducer daemon(String node) {
        return new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), node);
    }

    EventReader reader(Topic topic, String key) {
        return new EventReader(bed.broker().bootstrap(), bed.codec(), key, topic);
    }

    /** Announces a node at a time that the envelope's header says. */
    void announceAt(String node, String time) {
        var source = new EventSource.Node(TestBed.CLUSTER, node);
        var id = new EventId(source.name(), 1, Topic.INVENTORY, 1);
        var now = new EventTime(Instant.EPOCH, Instant.EPOCH, 0);
        ProducerRecord<String, byte[]> record = bed.codec()
                .encode(
                        new Envelope(id, source, EventType.NODE_ANNOUNCED, "", node, now, ""),
                        NodeAnnounced.newBuilder().setBootId("boot-" + node).build());
        record.headers().remove("ce_time").add("ce_time", time.getBytes(UTF_8));
        try (var producer = new KafkaProducer<>(
                Map.<String, Object>of("bootstrap.servers", bed.broker().bootstrap()),
                new StringSerializer(),
                new ByteArraySerializer())) {
            producer.send(record);
        }
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
                InventoryMain.SETTINGS);
        return InventoryMain.start(
                settings, shutdown, Map.of("KUBECONFIG", bed.kubeconfig().toString()));
    }

    /** A Node in the boot {@code boot-<name>}. */
    void createNode(String name, Map<String, String> labels) {
        TestKubernetes.createNode(client, name, "boot-" + name, labels);
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

    /** How many records of each message the broker has, all of which fit the contract. */
    Map<String, Integer> published() {
        return PublishedRecords.of(bed.broker().bootstrap()).check();
    }
}
