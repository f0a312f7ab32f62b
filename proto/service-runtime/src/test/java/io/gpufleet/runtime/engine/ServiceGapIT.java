package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.wire.EventSequencer;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** A service numbers its events over all keys: one that is missing is counted, across keys and a restart. */
@NullMarked
class ServiceGapIT {
    private final TestBus bus = TestBus.withNewPrefix();
    private final EventSequencer sequencer = new EventSequencer(
            bus.codec, new EventSource.Service(TestBus.CLUSTER, "inventory-service-0"), 1000, Clock.systemUTC());

    @Test
    void eventOfAServiceThatNeverArrivesIsCounted() {
        // Given
        var first = next("n1");
        next("n2");
        var third = next("n3");
        try (var engine = bus.start("health-service-0", new CountingProjection())) {
            // When
            send(first);
            await().atMost(Duration.ofSeconds(60)).until(() -> engine.counters().get("events") == 1);
            send(third);

            // Then
            await().atMost(Duration.ofSeconds(60)).until(() -> engine.counters().get("missed_from_services") == 1);
            assertThat(engine.counters().get("missed")).isZero();
            assertThat(engine.missedFromServices())
                    .singleElement()
                    .asString()
                    .contains("1 event of ", "inventory-service-0 on signals never arrived");
        }
        // And what is missing after a restart
        next("n4");
        var fifth = next("n5");
        try (var engine = bus.start("health-service-0", new CountingProjection())) {
            send(fifth);
            await().atMost(Duration.ofSeconds(60)).until(() -> engine.counters().get("missed_from_services") == 1);
        }
    }

    private ProducerRecord<String, byte[]> next(String node) {
        return sequencer.next(Outbound.Event.of(
                Topic.SIGNALS, EventType.COMMAND_ISSUED, node, EventType.COMMAND_ISSUED.prototype(), Instant.now()));
    }

    private void send(ProducerRecord<String, byte[]> rec) {
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer())) {
            producer.send(rec);
        }
    }
}
