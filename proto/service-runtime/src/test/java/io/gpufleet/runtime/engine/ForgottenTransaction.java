package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.kafka.BrokerProcess;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.NullMarked;

/**
 * A transaction that its coordinator takes for over while its records wait for a marker, as a broker of Kafka 4.3 leaves it
 * that restarts (KAFKA-20734): the log of the coordinator gets its last entry again.
 */
@NullMarked
final class ForgottenTransaction {
    private static final String STATE_TOPIC = "__transaction_state";

    private final BrokerProcess broker;
    private final String transactionalId;

    ForgottenTransaction(BrokerProcess broker, String transactionalId) {
        this.broker = broker;
        this.transactionalId = transactionalId;
    }

    /** Leaves these records open; for the coordinator there was no transaction so far. */
    void leaveOpen(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
        leaveOpen(List.of(), TransactionState.EMPTY, records);
    }

    /** Leaves these records open; the coordinator has committed a transaction, of the others. */
    void leaveOpenAsCommitted(
            List<ProducerRecord<byte[], byte[]>> committed, List<ProducerRecord<byte[], byte[]>> records)
            throws Exception {
        leaveOpen(committed, TransactionState.COMPLETE_COMMIT, records);
    }

    private void leaveOpen(
            List<ProducerRecord<byte[], byte[]>> committed,
            TransactionState state,
            List<ProducerRecord<byte[], byte[]>> records)
            throws Exception {
        Properties properties = properties();
        properties.put("transactional.id", transactionalId);
        try (var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            if (!committed.isEmpty()) {
                producer.beginTransaction();
                committed.forEach(producer::send);
                producer.commitTransaction();
            }
            await().until(() -> state() == state);
            ConsumerRecord<byte[], byte[]> entry = newestEntry();
            producer.beginTransaction();
            for (ProducerRecord<byte[], byte[]> rec : records) {
                producer.send(rec).get();
            }
            append(entry);
            broker.kill();
            producer.close(Duration.ZERO);
        }
        broker.restart();
        await().ignoreExceptions().until(() -> state() == state);
    }

    private TransactionState state() throws ExecutionException, InterruptedException {
        try (Admin admin = Admin.create(properties())) {
            return admin.describeTransactions(List.of(transactionalId))
                    .description(transactionalId)
                    .get()
                    .state();
        }
    }

    private ConsumerRecord<byte[], byte[]> newestEntry() {
        try (var consumer =
                new KafkaConsumer<>(properties(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = IntStream.range(
                            0, consumer.partitionsFor(STATE_TOPIC).size())
                    .mapToObj(partition -> new TopicPartition(STATE_TOPIC, partition))
                    .toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            var ends = consumer.endOffsets(all);
            List<ConsumerRecord<byte[], byte[]>> found = new java.util.ArrayList<>();
            while (all.stream().anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
                consumer.poll(Duration.ofMillis(100)).forEach(found::add);
            }
            return found.stream()
                    .filter(rec -> endsWith(rec.key(), transactionalId.getBytes(UTF_8)))
                    .reduce((_, later) -> later)
                    .orElseThrow();
        }
    }

    private static boolean endsWith(byte[] whole, byte[] end) {
        return whole.length >= end.length
                && Arrays.equals(whole, whole.length - end.length, whole.length, end, 0, end.length);
    }

    /** A broker lets its own tools write to internal topics, which it knows by their name. */
    private void append(ConsumerRecord<byte[], byte[]> entry) throws ExecutionException, InterruptedException {
        Properties properties = properties();
        properties.put("client.id", "__admin_client");
        try (var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(entry.topic(), entry.partition(), entry.key(), entry.value()))
                    .get();
        }
    }

    private Properties properties() {
        var properties = new Properties();
        properties.put("bootstrap.servers", broker.bootstrap());
        return properties;
    }
}
