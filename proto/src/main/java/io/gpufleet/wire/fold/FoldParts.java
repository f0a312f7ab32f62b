package io.gpufleet.wire.fold;

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

/** What a fold was started with, and the Kafka clients that follow from it. */
record FoldParts(FoldSettings settings, Codec codec, Folder folder, Clock clock) {
    /** Group and transactional id; a prefix of one's own keeps two fleets on one Kafka apart. */
    String role() {
        String prefix = codec.topics().prefix();
        return "gpufleet-" + (prefix.equals(Topics.DEFAULT_PREFIX) ? "" : prefix) + settings.service();
    }

    /** A consumer that is told its partitions and sees committed records only. */
    Consumer<byte[], byte[]> reader(String purpose) {
        Properties config = common(purpose);
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
     * A static member of the service's group. Classic protocol: with the newer one a restarted static member waits for
     * more than a minute. Cooperative and sticky: a standby that joins does not interrupt the active one.
     */
    Consumer<byte[], byte[]> candidate() {
        long session = settings.sessionTimeout().toMillis();
        Properties config = common("election");
        config.put(ConsumerConfig.GROUP_ID_CONFIG, role());
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

    /** The service's one transactional writer. */
    Producer<byte[], byte[]> writer() {
        Properties config = common("fold");
        config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, role());
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

    private Properties common(String purpose) {
        var config = new Properties();
        config.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrap());
        config.put(ConsumerConfig.CLIENT_ID_CONFIG, settings.instance() + "-" + purpose);
        config.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, "500");
        return config;
    }
}
