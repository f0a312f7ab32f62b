package io.gpufleet.wire.projection;

import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.util.Properties;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Parameters of an engine, and factory of its Kafka clients. */
record ProjectionContext(ProjectionSettings settings, Codec codec, Projection projection, Clock clock) {
    /**
     * Returns the group id and transactional id; contains the topic prefix, which separates two fleets on one Kafka.
     */
    String groupId() {
        String prefix = codec.topics().prefix();
        return "gpufleet-" + (prefix.equals(Topics.DEFAULT_PREFIX) ? "" : prefix) + settings.service();
    }

    /** Creates a consumer for assigned partitions that reads committed records only. */
    Consumer<byte[], byte[]> consumer(String purpose) {
        Properties config = commonConfig(purpose);
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        config.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "1000");
        config.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "5000");
        config.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, "5000");
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /**
     * Creates a static member of the service's group. Classic protocol, because with the newer one a restarted static
     * member waits for more than a minute. Cooperative sticky assignment, so that a joining standby does not interrupt
     * the active one.
     */
    Consumer<byte[], byte[]> electionConsumer() {
        long session = settings.sessionTimeout().toMillis();
        Properties config = commonConfig("election");
        config.put(ConsumerConfig.GROUP_ID_CONFIG, groupId());
        config.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "classic");
        config.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, settings.instance());
        config.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        config.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, Long.toString(session));
        config.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, Long.toString(Math.min(300, session / 3)));
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Creates the transactional producer of the service. */
    Producer<byte[], byte[]> producer() {
        Properties config = commonConfig("projection");
        config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, groupId());
        config.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "10000");
        config.put(ProducerConfig.ACKS_CONFIG, "all");
        config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        config.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        config.put(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(128 * 1024));
        config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(2 * 1024 * 1024));
        config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "4000");
        config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "8000");
        config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "8000");
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private Properties commonConfig(String purpose) {
        var config = new Properties();
        config.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrap());
        config.put(ConsumerConfig.CLIENT_ID_CONFIG, settings.instance() + "-" + purpose);
        config.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, "500");
        return config;
    }
}
