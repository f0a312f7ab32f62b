package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A record that cannot be read goes to the dead letters whole, and the partition goes on. */
@NullMarked
class ProjectionEngineDeadLetterIT {
    private final TestBus bus = TestBus.withNewPrefix();
    private final CountingProjection projection = new CountingProjection();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(40));
    }

    @Test
    void everyKindOfPoisonIsDeadLetteredWholeAndTheNextEventIsFolded() {
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // When
            byte[] notText = {(byte) 0xff, 0, (byte) 0x80};
            put(Topic.HEALTH, "n1", "not json".getBytes(UTF_8), _ -> {});
            put(pen, headers -> headers.remove("ce_type"));
            put(pen, headers -> replace(headers, "ce_type", "com.example.fault.observed.v1"));
            put(pen, headers -> replace(headers, "ce_source", "/clusters/other/nodes/n1"));
            put(pen, headers -> replace(headers, "ce_source", "/clusters/c1/nodes/n2"));
            put(pen, headers -> replace(headers, "ce_id", "n1/1000/inventory/1"));
            put(pen, headers -> replace(headers, "ce_time", "yesterday"));
            put(Topic.HEALTH, "n1", null, _ -> {});
            putBytes(Topic.INVENTORY, notText, notText);
            pen.send(pen.fault("GPU-1", 79, CountingProjection.REFUSED));
            pen.send(pen.fault("GPU-1", 79, ""));

            // Then
            await().until(() -> engine.counters().get("dead_letters") == 10
                    && engine.counters().get("events") == 1);
            assertThat(bus.read(Topic.DEADLETTER, true)).hasSize(10).allSatisfy(letter -> {
                Map<String, String> headers = headers(letter);
                assertThat(headers.get("dlq.reason")).isNotBlank();
                assertThat(headers.get("dlq.topic")).startsWith(bus.topics.prefix());
                assertThat(headers.get("dlq.partition")).matches("\\d+");
                assertThat(headers.get("dlq.offset")).matches("\\d+");
                assertThat(headers.get("dlq.timestamp")).matches("\\d{13}");
                assertThat(headers.get("dlq.consumer")).isEqualTo("counting");
            });
            assertThat(bus.read(Topic.DEADLETTER, true))
                    .anySatisfy(letter -> {
                        assertThat(letter.key()).isEqualTo(notText);
                        assertThat(letter.value()).isEqualTo(notText);
                    })
                    .anySatisfy(letter -> assertThat(headers(letter))
                            .containsEntry("ce_type", "com.example.fault.observed.v1")
                            .extractingByKey("dlq.reason")
                            .asString()
                            .contains("is not io.gpufleet.<subject>"))
                    .anySatisfy(letter ->
                            assertThat(headers(letter).get("dlq.reason")).contains(CountingProjection.REFUSED));
        }
    }

    @Test
    void poisonIsDeadLetteredOnceAcrossRestarts() {
        try (var engine = bus.start("health-service-0", projection)) {
            put(Topic.HEALTH, "n1", "not json".getBytes(UTF_8), _ -> {});
            await().until(() -> engine.counters().get("dead_letters") == 1);
        }
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", new CountingProjection())) {
            pen.send(pen.announced());
            await().until(() -> engine.counters().get("events") == 1);
            assertThat(bus.read(Topic.DEADLETTER, true)).hasSize(1);
        }
    }

    @Test
    void refusedEventRevealsNoGapAfterARestart() {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1")) {
            // Given
            try (var engine = bus.start("health-service-0", projection)) {
                node.send(node.fault("GPU-1", 79, ""));
                await().until(() -> engine.counters().get("events") == 1);
                node.send(node.fault("GPU-1", 79, CountingProjection.REFUSED));
                await().until(() -> engine.counters().get("dead_letters") == 1);
            }
            // When
            try (var engine = bus.start("health-service-0", projection)) {
                node.send(node.fault("GPU-2", 79, ""));
                await().until(() -> engine.counters().get("events") == 1);

                // Then
                assertThat(engine.counters().get("missed")).isZero();
            }
        }
    }

    @Test
    void unreadableChangelogRecordStopsTheStartWithItsOffset() {
        // Given
        put(Topic.HEALTH_STATE, "n1", "not json".getBytes(UTF_8), _ -> {});

        try (var engine = bus.start("health-service-0", projection)) {
            // Then
            await().until(() -> engine.role() == ReplicaRole.STOPPED);
            assertThat(engine.failure().orElseThrow())
                    .contains(bus.topics.name(Topic.HEALTH_STATE) + " partition ")
                    .contains("offset 0 key 'n1'");
            assertThat(engine.readinessFailures()).hasSize(1);
            assertThat(projection.lifecycle).isEmpty();
        }
    }

    private void put(NodeEventProducer pen, Consumer<Headers> spoil) {
        var rec = pen.fault("GPU-1", 79, "");
        spoil.accept(rec.headers());
        send(new ProducerRecord<>(rec.topic(), null, rec.key().getBytes(UTF_8), rec.value(), rec.headers()));
    }

    private void put(Topic topic, String key, byte @Nullable [] value, Consumer<Headers> headers) {
        var rec = new ProducerRecord<byte[], byte[]>(bus.topics.name(topic), key.getBytes(UTF_8), value);
        headers.accept(rec.headers());
        send(rec);
    }

    private void putBytes(Topic topic, byte[] key, byte[] value) {
        send(new ProducerRecord<>(bus.topics.name(topic), key, value));
    }

    private void send(ProducerRecord<byte[], byte[]> rec) {
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(rec);
        }
    }

    private static void replace(Headers headers, String name, String value) {
        headers.remove(name).add(name, value.getBytes(UTF_8));
    }

    private static Map<String, String> headers(ConsumerRecord<byte[], byte[]> rec) {
        return StreamSupport.stream(rec.headers().spliterator(), false)
                .collect(Collectors.toMap(header -> header.key(), header -> new String(header.value(), UTF_8)));
    }
}
