package io.gpufleet.wire.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The subscribers of {@code proto/examples} read a broker by the recipe of {@code TOPICS.md}: duplicates, a replaced
 * machine, tombstones, own keys of a service, an aborted transaction, and partitions that end with a commit marker.
 */
@NullMarked
class SubscriberExamplesIT {
    /** Where it is true a client that is missing fails its test, which is left out otherwise. */
    private static final String REQUIRED = "gpufleet.examples.required";

    private static final Codec CODEC = new Codec("c1", new Topics("fleet."));
    private static final long STARTED = Instant.parse("2026-11-22T10:00:00Z").toEpochMilli();
    private static final String NODES = """
            node-1 gpus=7 trusted=false
            node-2 gpus=2 trusted=true
            node-3 gpus=1 trusted=true
            """;

    @TempDir
    private static Path dir = Path.of("");

    private static BrokerProcess broker;

    @BeforeAll
    static void publish() {
        broker = BrokerProcess.start(dir.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), CODEC.topics());
        try (var daemons = producer(Map.of())) {
            daemons.send(announced("node-1", STARTED, 1, "boot-1", 8));
            daemons.send(announced("node-1", STARTED, 2, "boot-1", 7));
            daemons.send(announced("node-1", STARTED, 1, "boot-1", 8));
            // The machine is replaced by one whose clock is behind, and an event of the former one comes again.
            daemons.send(announced("node-2", STARTED, 1, "boot-2", 4));
            daemons.send(announced("node-2", STARTED - 60_000, 1, "boot-3", 2));
            daemons.send(announced("node-2", STARTED - 60_000, 1, "boot-3", 3));
            daemons.send(announced("node-3", STARTED, 1, "boot-4", 1));
        }
        try (var service = producer(Map.of("transactional.id", "health-service"))) {
            service.initTransactions();
            inTransaction(service, verdict("node-1", 1, false), verdict("node-2", 2, false));
            inTransaction(service, CODEC.tombstone(Topic.VERDICTS, "node-2"), keyOfTheService());
            service.beginTransaction();
            service.send(verdict("node-3", 3, false));
            service.flush();
            service.abortTransaction();
        }
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void pythonPrintsEveryNode() throws Exception {
        prints(
                new ExampleCommand("python"),
                List.of("python3", "-c", "import confluent_kafka"),
                List.of("python3", "subscriber.py"));
    }

    @Test
    void goPrintsEveryNode() throws Exception {
        var example = new ExampleCommand("go");
        String program = dir.resolve("subscriber").toString();
        available(example, List.of("go", "mod", "download"));
        assertThat(example.run(dir, List.of("go", "build", "-o", program, ".")))
                .isEqualTo(new ExampleCommand.Result(0, "", ""));
        prints(example, List.of("go", "version"), List.of(program));
    }

    @Test
    void nodePrintsEveryNode() throws Exception {
        prints(
                new ExampleCommand("node"),
                List.of("node", "-e", "require('kafkajs')"),
                List.of("node", "subscriber.js"));
    }

    @Test
    void kcatPrintsEveryNode() throws Exception {
        prints(
                new ExampleCommand("kcat"),
                List.of("sh", "-c", "command -v kcat && command -v jq"),
                List.of("sh", "subscriber.sh"));
    }

    private static void prints(ExampleCommand example, List<String> probe, List<String> command) throws Exception {
        available(example, probe);
        var arguments = new ArrayList<>(command);
        Collections.addAll(arguments, broker.bootstrap(), "fleet.");

        ExampleCommand.Result result = example.run(dir, arguments);

        assertThat(result.output()).as(result.errors()).isEqualTo(NODES);
        assertThat(result.status()).isZero();
    }

    private static void available(ExampleCommand example, List<String> probe) throws Exception {
        ExampleCommand.Result result = example.run(dir, probe);
        String line = "'" + String.join(" ", probe) + "' fails: "
                + result.errors().strip() + "; proto/examples/install installs it";
        if (Boolean.getBoolean(REQUIRED)) {
            assertThat(result.status()).as(line).isZero();
        }
        assumeTrue(result.status() == 0, line);
    }

    private static KafkaProducer<String, byte[]> producer(Map<String, Object> settings) {
        var all = new HashMap<>(settings);
        all.put("bootstrap.servers", broker.bootstrap());
        return new KafkaProducer<>(all, new StringSerializer(), new ByteArraySerializer());
    }

    @SafeVarargs
    private static void inTransaction(
            KafkaProducer<String, byte[]> producer, ProducerRecord<String, byte[]>... records) {
        producer.beginTransaction();
        List.of(records).forEach(producer::send);
        producer.commitTransaction();
    }

    private static ProducerRecord<String, byte[]> announced(
            String node, long incarnation, long sequence, String boot, int gpus) {
        var payload = NodeAnnounced.newBuilder()
                .setBootId(boot)
                .addAllGpus(
                        Collections.nCopies(gpus, Gpu.newBuilder().setIndex(0).build()))
                .build();
        return CODEC.encode(
                envelope(
                        new EventSource.Node("c1", node),
                        new EventId(node, incarnation, Topic.INVENTORY, sequence),
                        EventType.NODE_ANNOUNCED,
                        node),
                payload);
    }

    private static ProducerRecord<String, byte[]> verdict(String node, long sequence, boolean trusted) {
        Message payload = NodeVerdict.newBuilder().setTrusted(trusted).build();
        return CODEC.encode(
                envelope(
                        new EventSource.Service("c1", "health-service-0"),
                        new EventId("health-service-0", STARTED, Topic.VERDICTS, sequence),
                        EventType.VERDICT_REACHED,
                        node),
                payload);
    }

    /** As on the topics that are changelogs of a service. */
    private static ProducerRecord<String, byte[]> keyOfTheService() {
        return new ProducerRecord<>(CODEC.topics().name(Topic.VERDICTS), "@offsets", "no event".getBytes(UTF_8));
    }

    private static Envelope envelope(EventSource source, EventId id, EventType type, String key) {
        Instant time = Instant.ofEpochMilli(STARTED);
        return new Envelope(id, source, type, "", key, new EventTime(time, time, 0), "");
    }
}
