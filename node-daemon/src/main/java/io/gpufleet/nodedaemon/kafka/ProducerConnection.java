package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.kafka.client.producer.KafkaWriteStream;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * One Kafka producer. Records never time out in it: the publisher decides when the broker has taken too long, closes the
 * producer and sends every unacknowledged event again, in order. So no event overtakes another, and an event's age is that
 * of the send that reached the broker.
 */
final class ProducerConnection {
    private static final List<Topic> TOPICS = List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY);

    private final Vertx vertx;
    private final Producer<String, byte[]> producer;
    private final KafkaWriteStream<String, byte[]> stream;

    private ProducerConnection(Vertx vertx, Producer<String, byte[]> producer) {
        this.vertx = vertx;
        this.producer = producer;
        // Every failure is one of a send, and reported by its future.
        this.stream = KafkaWriteStream.create(vertx, producer).exceptionHandler(_ -> {});
    }

    /** Creates a producer. Blocks while addresses are resolved; throws if none can be. */
    static ProducerConnection create(Vertx vertx, KafkaSettings settings) {
        return new ProducerConnection(
                vertx, new KafkaProducer<>(properties(settings), new StringSerializer(), new ByteArraySerializer()));
    }

    /** Blocks until the broker has returned metadata of every topic of a daemon, or until {@link #abort}. */
    void awaitTopics(Topics topics) {
        TOPICS.forEach(topic -> producer.partitionsFor(topics.name(topic)));
    }

    Future<RecordMetadata> send(ProducerRecord<String, byte[]> event) {
        return stream.send(event);
    }

    /**
     * Closes the producer at once, bypassing the stream's queue: a send that waits there for metadata, and those after it,
     * must fail before anything is sent again. The timeout must be zero: with one millisecond kafka-clients use it up before
     * they join their thread, and then join it without a limit.
     */
    Future<?> abort() {
        return vertx.executeBlocking(
                () -> {
                    producer.close(Duration.ZERO);
                    return true;
                },
                false);
    }

    private static Properties properties(KafkaSettings settings) {
        Properties properties = settings.clients().properties("node-daemon-" + settings.node());
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        // A broker that starts may refuse one request and take the next; it does not know the producer yet, so it takes
        // any first sequence number, and the later events would be ahead of the earlier ones for ever.
        properties.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
        properties.put(ProducerConfig.LINGER_MS_CONFIG, 0);
        properties.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 4L * 1024 * 1024);
        // A send must not fail alone, or the next one would overtake it. All fail together when the producer is closed.
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, (long) Integer.MAX_VALUE);
        properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000);
        properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.MAX_VALUE);
        // gpu.inventory has no events for hours; its metadata must be cached when one is sent.
        properties.put(ProducerConfig.METADATA_MAX_IDLE_CONFIG, 24L * 60 * 60 * 1000);
        // Neither JMX nor metrics pushed to the broker: they are not read, and cost megabytes.
        properties.put(ProducerConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        properties.put(ProducerConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        return properties;
    }
}
