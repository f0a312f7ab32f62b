package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.transaction.BrokerTransactions;
import io.gpufleet.runtime.transaction.OpenTransactions;
import io.gpufleet.wire.KafkaClients;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Clients of the broker of a configuration, and the time of this machine. */
record BrokerClients(EngineConfig config) implements EngineClients {
    @Override
    public Consumer<byte[], byte[]> reader(String purpose) {
        return reader(purpose, "read_committed");
    }

    private Consumer<byte[], byte[]> reader(String purpose, String isolation) {
        Properties properties = config.kafka().properties(config.settings().instance() + "-" + purpose);
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation);
        // A position that the broker does not have is noticed and counted, never silently moved.
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        // A commit takes the same time for one event and for thousands; a lone event waits for no others.
        properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "5000");
        properties.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "5000");
        properties.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, "5000");
        return config.kafka().consumer(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    @Override
    public Producer<byte[], byte[]> writer() {
        Properties properties = config.kafka().properties(config.settings().instance() + "-writer");
        properties.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, config.group());
        properties.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "10000");
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        // The commit flushes; until then the records of a transaction share a request, also on a machine so busy that
        // they are milliseconds apart. A second request would wait while its partitions are added to the transaction.
        properties.put(ProducerConfig.LINGER_MS_CONFIG, "1000");
        properties.put(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(128 * 1024));
        properties.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(KafkaClients.MAX_REQUEST_BYTES));
        properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "4000");
        properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "8000");
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "8000");
        return config.kafka().producer(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @Override
    public OpenTransactions transactions() {
        Properties properties = config.kafka().properties(config.settings().instance() + "-transactions");
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "10000");
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, "5000");
        return new BrokerTransactions(
                config.kafka().admin(properties), config.group(), () -> reader("unfinished", "read_uncommitted"));
    }

    @Override
    public <T> Supplier<T> beside(Supplier<T> work) {
        var result = new CompletableFuture<T>();
        // A platform thread: the selector of Kafka's clients pins a virtual one (decision 0002).
        Thread.ofPlatform()
                .daemon()
                .name(config.settings().service() + "-beside")
                .start(() -> {
                    try {
                        result.complete(work.get());
                    } catch (RuntimeException | Error failed) {
                        result.completeExceptionally(failed);
                    }
                });
        return () -> {
            try {
                return result.join();
            } catch (CompletionException failed) {
                throw failed.getCause() instanceof RuntimeException cause ? cause : failed;
            }
        };
    }

    @Override
    public long nanos() {
        return System.nanoTime();
    }
}
