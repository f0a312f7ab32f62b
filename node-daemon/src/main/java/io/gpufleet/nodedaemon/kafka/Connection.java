package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.kafka.client.producer.KafkaWriteStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * One producer, from its first answer to its end. Records never time out in it: the outbox decides when it has waited
 * long enough, ends the producer and sends everything that was not acknowledged again, in order. So nothing overtakes,
 * and an event's age is that of the sending that reached the broker.
 */
final class Connection {
    private static final List<Topic> TOPICS = List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY);

    private final Vertx vertx;
    private final Producer<String, byte[]> producer;
    private final KafkaWriteStream<String, byte[]> stream;

    private Connection(Vertx vertx, Producer<String, byte[]> producer) {
        this.vertx = vertx;
        this.producer = producer;
        // Every failure is that of a send, and told there.
        this.stream = KafkaWriteStream.create(vertx, producer).exceptionHandler(_ -> {});
    }

    /** Makes a producer; fails where an address can not be resolved. Blocks for that. */
    static Connection create(Vertx vertx, BusSettings settings) {
        return new Connection(
                vertx, new KafkaProducer<>(properties(settings), new StringSerializer(), new ByteArraySerializer()));
    }

    /** Blocks until the broker knows every topic of a daemon, or until {@link #end}. */
    void awaitTopics(Topics topics) {
        TOPICS.forEach(topic -> producer.partitionsFor(topics.name(topic)));
    }

    Future<RecordMetadata> send(ProducerRecord<String, byte[]> event) {
        return stream.send(event);
    }

    /**
     * Ends it at once, past the stream's queue: a send that waits there for metadata has to fail, and those behind it,
     * before anything can be sent again. Zero and nothing else: kafka-clients spend a timeout of a millisecond before they
     * wait for their thread, and then wait for it without end.
     */
    Future<?> end() {
        return vertx.executeBlocking(
                () -> {
                    producer.close(Duration.ZERO);
                    return true;
                },
                false);
    }

    private static Map<String, Object> properties(BusSettings settings) {
        var properties = new HashMap<String, Object>();
        properties.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrap());
        properties.put(ProducerConfig.CLIENT_ID_CONFIG, "node-daemon-" + settings.node());
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        properties.put(ProducerConfig.LINGER_MS_CONFIG, 0);
        properties.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 4L * 1024 * 1024);
        // Nor may a send give up alone: the next one would overtake it. All fail together when the producer is ended.
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, (long) Integer.MAX_VALUE);
        properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000);
        properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.MAX_VALUE);
        // gpu.inventory is quiet for hours; its metadata is to be there when a fault comes.
        properties.put(ProducerConfig.METADATA_MAX_IDLE_CONFIG, 24L * 60 * 60 * 1000);
        // Neither JMX nor metrics pushed to the broker: nobody reads them, and they cost megabytes.
        properties.put(ProducerConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        properties.put(ProducerConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        properties.put(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 500L);
        return properties;
    }
}
