package io.gpufleet.cli.bus;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Dead letters of a real broker are written to their topics again, but none that would do harm. */
class DeadLetterReplayIT {
    private static final Topics TOPICS = new Topics("gpu.");
    private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");
    private static final DeadLetterFilter ANY = new DeadLetterFilter("", -1, -1, "", "");

    @TempDir
    private static Path dir;

    private static BrokerProcess broker;

    private static DeadLetterReplay replay() {
        return new DeadLetterReplay(KafkaClients.plain(broker.bootstrap()), TOPICS, Clock.fixed(NOW, ZoneOffset.UTC));
    }

    @BeforeAll
    static void startBroker() {
        broker = BrokerProcess.start(dir.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), TOPICS, (short) 1);
    }

    @AfterAll
    static void stopBroker() {
        broker.stop();
    }

    @Test
    void deadLetterIsWrittenToItsPartitionByteForByteWithItsOrigin() {
        // Given
        RecordMetadata found = put(Topic.HEALTH, "whole", "fault.observed", "{\"bootId\":\"b\"}");
        letter(found, "whole", "fault.observed", "{\"bootId\":\"b\"}", "");
        // When
        List<DeadLetterReplay.Planned> planned = replay().plan(of("whole"), false);
        replay().replay(planned.stream().map(DeadLetterReplay.Planned::letter).toList());
        // Then
        assertThat(planned).extracting(DeadLetterReplay.Planned::obstacle).containsExactly("");
        assertThat(records(found, "whole")).hasSize(2).last().satisfies(again -> {
            assertThat(again.value()).isEqualTo("{\"bootId\":\"b\"}".getBytes(UTF_8));
            assertThat(header(again, "ce_id")).isEqualTo("whole/1/health/1");
            assertThat(header(again, "dlq.replayed")).isEqualTo(NOW.toString());
            assertThat(again.headers().lastHeader("dlq.reason")).isNull();
            assertThat(DeadLetterOrigin.of(again.headers()))
                    .isEqualTo(new DeadLetterOrigin(
                            "health-service", "gpu.health", found.partition(), found.offset(), NOW.minusSeconds(60)));
        });
    }

    @Test
    void deadLetterThatALaterSnapshotHasReplacedIsLeftUnlessItIsAskedFor() {
        // Given
        RecordMetadata found = put(Topic.HEALTH, "healed", "fault.observed", "{}");
        letter(found, "healed", "fault.observed", "{}", "");
        assertThat(obstacles(of("healed"), false)).containsExactly("");
        // When
        put(Topic.HEALTH, "healed", "faults.open", "{}");
        // Then
        assertThat(obstacles(of("healed"), false))
                .singleElement()
                .asString()
                .startsWith("replaced by healed/1/health/1");
        assertThat(obstacles(of("healed"), true)).containsExactly("");
    }

    @Test
    void commandThatALaterOneForTheSameDeviceHasReplacedIsLeft() {
        // Given
        RecordMetadata found = put(Topic.SIGNALS, "told", "command.issued", command("GPU-1"));
        letter(found, "told", "command.issued", command("GPU-1"), "");
        put(Topic.SIGNALS, "told", "command.issued", command("GPU-2"));
        put(Topic.SIGNALS, "told", "kubernetes.observed", "{\"nodeDeleted\":{\"uid\":\"u\"}}");
        assertThat(obstacles(of("told"), false)).containsExactly("");
        // When
        put(Topic.SIGNALS, "told", "command.issued", command("GPU-1"));
        // Then
        assertThat(obstacles(of("told"), false)).singleElement().asString().startsWith("replaced by");
    }

    @Test
    void deadLetterThatMustNotBeReplayedIsLeftWithTheReason() {
        letter(put(Topic.VERDICTS, "old", "verdict.reached", "{}"), "old", "verdict.reached", "{}", "");
        letter(put(Topic.TELEMETRY, "beat", "telemetry.sampled", "{}"), "beat", "telemetry.sampled", "{}", "");
        RecordMetadata large = put(Topic.HEALTH, "cut", "fault.observed", "{}");
        letter(large, "cut", "fault.observed", "{", "dlq.truncated");
        RecordMetadata applied = put(Topic.HEALTH, "done", "fault.observed", "{}");
        letter(applied, "done", "fault.observed", "{}", "");
        letter(applied, "done", "fault.observed", "{}", "dlq.replayed");

        assertThat(obstacles(of("old"), true)).singleElement().asString().contains("newest record of each key");
        assertThat(obstacles(of("beat"), true)).containsExactly("a heartbeat is of its time");
        assertThat(obstacles(of("cut"), true)).containsExactly("the dead letter holds a part of the record only");
        assertThat(obstacles(of("done"), true)).containsExactly("replayed at dlq.replayed");
    }

    @Test
    void filterChoosesByPositionAndService() {
        RecordMetadata found = put(Topic.INVENTORY, "chosen", "node.departed", "{}");
        letter(found, "chosen", "node.departed", "{}", "");

        assertThat(obstacles(filter("inventory", found.offset(), "health-service"), false))
                .hasSize(1);
        assertThat(obstacles(filter("gpu.inventory", found.offset(), ""), false))
                .hasSize(1);
        assertThat(obstacles(filter("inventory", found.offset() + 100, ""), false))
                .isEmpty();
        assertThat(obstacles(filter("inventory", found.offset(), "inventory-service"), false))
                .isEmpty();
        assertThat(obstacles(ANY, false)).isNotEmpty();
    }

    private static DeadLetterFilter of(String key) {
        return new DeadLetterFilter("", -1, -1, "", key);
    }

    private static DeadLetterFilter filter(String topic, long offset, String consumer) {
        return new DeadLetterFilter(topic, Topic.INVENTORY.partitionOf("chosen"), offset, consumer, "chosen");
    }

    private List<String> obstacles(DeadLetterFilter filter, boolean replaced) {
        return replay().plan(filter, replaced).stream()
                .map(DeadLetterReplay.Planned::obstacle)
                .toList();
    }

    private static String command(String device) {
        return "{\"command\":\"COMMAND_QUARANTINE\",\"deviceUuid\":\"" + device + "\"}";
    }

    private static RecordMetadata put(Topic topic, String key, String type, String json) {
        var rec = new ProducerRecord<>(TOPICS.name(topic), bytes(key), bytes(json));
        rec.headers().add("ce_type", bytes("io.gpufleet." + type + ".v1"));
        rec.headers().add("ce_id", bytes(key + "/1/" + topic.suffix() + "/1"));
        return send(rec);
    }

    /** A dead letter of the health-service, with one header more unless it is empty. */
    private static void letter(RecordMetadata found, String key, String type, String json, String further) {
        var rec = new ProducerRecord<>(TOPICS.name(Topic.DEADLETTER), bytes(key), bytes(json));
        rec.headers().add("ce_type", bytes("io.gpufleet." + type + ".v1"));
        rec.headers()
                .add(
                        "ce_id",
                        bytes(key + "/1/"
                                + found.topic().substring(TOPICS.prefix().length()) + "/1"));
        rec.headers().add("dlq.reason", bytes("too large"));
        new DeadLetterOrigin("health-service", found.topic(), found.partition(), found.offset(), NOW.minusSeconds(60))
                .addTo(rec.headers());
        if (!further.isEmpty()) {
            rec.headers().add(further, bytes(further));
        }
        send(rec);
    }

    private static RecordMetadata send(ProducerRecord<byte[], byte[]> rec) {
        try (var producer = new KafkaProducer<>(
                Map.<String, Object>of("bootstrap.servers", broker.bootstrap()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            return producer.send(rec).get();
        } catch (ExecutionException | InterruptedException failed) {
            throw new AssertionError("the record was not taken", failed);
        }
    }

    private static List<ConsumerRecord<byte[], byte[]>> records(RecordMetadata where, String key) {
        var partition = new TopicPartition(where.topic(), where.partition());
        List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(
                Map.<String, Object>of("bootstrap.servers", broker.bootstrap()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(found::add);
            }
        }
        found.removeIf(rec -> !key.equals(new String(rec.key(), UTF_8)));
        return found;
    }

    private static String header(ConsumerRecord<byte[], byte[]> rec, String name) {
        return new String(rec.headers().lastHeader(name).value(), UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }
}
