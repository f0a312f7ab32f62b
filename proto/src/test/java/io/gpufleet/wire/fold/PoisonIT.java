package io.gpufleet.wire.fold;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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

/** What can not be read goes aside whole, and the partition goes on. */
@NullMarked
class PoisonIT {
    private final Bus bus = Bus.fresh();
    private final CountingFold fold = new CountingFold();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(40));
    }

    @Test
    void everyKindOfPoisonIsBuriedWholeAndTheNextEventIsFolded() {
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var engine = bus.start("s-0", fold)) {
            // When
            byte[] notText = {(byte) 0xff, 0, (byte) 0x80};
            put(Topic.HEALTH, "n1", "not json".getBytes(UTF_8), _ -> {});
            put(pen, headers -> headers.remove("ce_type"));
            put(pen, headers -> replace(headers, "ce_type", "io.gpufleet.fault.guessed.v1"));
            put(pen, headers -> replace(headers, "ce_source", "/clusters/other/nodes/n1"));
            put(pen, headers -> replace(headers, "ce_source", "/clusters/c1/nodes/n2"));
            put(pen, headers -> replace(headers, "ce_id", "n1/1000/inventory/1"));
            put(pen, headers -> replace(headers, "ce_time", "yesterday"));
            put(Topic.HEALTH, "n1", null, _ -> {});
            putBytes(Topic.INVENTORY, notText, notText);
            pen.send(pen.fault("GPU-1", 79, CountingFold.REFUSED));
            pen.send(pen.fault("GPU-1", 79, ""));

            // Then
            await().until(() ->
                    engine.counters().poisoned() == 10 && engine.counters().folded() == 1);
            assertThat(bus.read(Topic.DEADLETTER, true)).hasSize(10).allSatisfy(letter -> {
                Map<String, String> headers = headers(letter);
                assertThat(headers.get("gf_reason")).isNotBlank();
                assertThat(headers.get("gf_topic")).startsWith(bus.topics.prefix());
                assertThat(headers.get("gf_partition")).matches("\\d+");
                assertThat(headers.get("gf_offset")).matches("\\d+");
                assertThat(headers.get("gf_consumer")).isEqualTo("counting");
            });
            assertThat(bus.read(Topic.DEADLETTER, true))
                    .anySatisfy(letter -> {
                        assertThat(letter.key()).isEqualTo(notText);
                        assertThat(letter.value()).isEqualTo(notText);
                    })
                    .anySatisfy(letter -> assertThat(headers(letter))
                            .containsEntry("ce_type", "io.gpufleet.fault.guessed.v1")
                            .extractingByKey("gf_reason")
                            .asString()
                            .contains("not in the catalogue"))
                    .anySatisfy(letter ->
                            assertThat(headers(letter).get("gf_reason")).contains(CountingFold.REFUSED));
        }
    }

    @Test
    void poisonIsBuriedOnceAlsoAcrossRestarts() {
        try (var engine = bus.start("s-0", fold)) {
            put(Topic.HEALTH, "n1", "not json".getBytes(UTF_8), _ -> {});
            await().until(() -> engine.counters().poisoned() == 1);
        }
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var engine = bus.start("s-0", new CountingFold())) {
            pen.send(pen.announced());
            await().until(() -> engine.counters().folded() == 1);
            assertThat(bus.read(Topic.DEADLETTER, true)).hasSize(1);
        }
    }

    @Test
    void ownChangelogThatCanNotBeReadStopsTheStartWithItsPosition() {
        // Given
        put(Topic.HEALTH_STATE, "n1", "not json".getBytes(UTF_8), _ -> {});

        try (var engine = bus.start("s-0", fold)) {
            // Then
            await().until(() -> engine.role() == Role.STOPPED);
            assertThat(engine.failure().orElseThrow())
                    .contains(bus.topics.name(Topic.HEALTH_STATE) + " partition ")
                    .contains("offset 0 key 'n1'");
            assertThat(engine.notReady()).hasSize(1);
            assertThat(fold.life).isEmpty();
        }
    }

    private void put(NodePen pen, Consumer<Headers> spoil) {
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
