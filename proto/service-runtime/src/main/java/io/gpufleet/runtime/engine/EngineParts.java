package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.util.List;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What an engine was started with, and the Kafka clients that follow from it. */
record EngineParts<S>(EngineConfig config, Projection<S> projection, Actor<S> actor, StateListener<S> listener) {
    ProjectionSettings settings() {
        return config.settings();
    }

    Codec codec() {
        return config.codec();
    }

    KafkaClients kafka() {
        return config.kafka();
    }

    Clock clock() {
        return config.clock();
    }

    ProjectionSpec spec() {
        return projection.spec();
    }

    /** Group and transactional id; a prefix of one's own keeps two fleets on one Kafka apart. */
    String group() {
        String prefix = codec().topics().prefix();
        return "gpufleet-" + (prefix.equals(Topics.DEFAULT_PREFIX) ? "" : prefix)
                + settings().service();
    }

    List<TopicPartition> partitions(Topic topic) {
        String name = codec().topics().name(topic);
        return IntStream.range(0, topic.partitions())
                .mapToObj(partition -> new TopicPartition(name, partition))
                .toList();
    }

    /** A consumer that is assigned its partitions and sees committed records only. */
    Consumer<byte[], byte[]> reader(String purpose) {
        Properties config = kafka().properties(settings().instance() + "-" + purpose);
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        // A position that the broker does not have is noticed and counted, never silently moved.
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        config.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "2000");
        config.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "5000");
        config.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, "5000");
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** The service's one transactional writer. */
    Producer<byte[], byte[]> writer() {
        Properties config = kafka().properties(settings().instance() + "-writer");
        config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, group());
        config.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "10000");
        config.put(ProducerConfig.ACKS_CONFIG, "all");
        config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        // The commit flushes; until then the records of a transaction share requests.
        config.put(ProducerConfig.LINGER_MS_CONFIG, "5");
        config.put(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(128 * 1024));
        config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(KafkaClients.MAX_REQUEST_BYTES));
        config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "4000");
        config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "8000");
        config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "8000");
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
