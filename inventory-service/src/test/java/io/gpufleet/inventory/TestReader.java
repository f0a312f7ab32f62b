package io.gpufleet.inventory;

import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads what is committed for one key of a topic. */
final class TestReader implements AutoCloseable {
    private final String key;
    private final KafkaConsumer<String, byte[]> consumer;
    private String newest = "";

    TestReader(String bootstrap, Topic topic, String key) {
        this.key = key;
        this.consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer());
        var partition = new TopicPartition(new Topics(Topics.DEFAULT_PREFIX).name(topic), Topics.partition(topic, key));
        consumer.assign(List.of(partition));
        consumer.seekToBeginning(List.of(partition));
    }

    /** The newest value as text, {@code tombstone}, or nothing. */
    String newest() {
        for (ConsumerRecord<String, byte[]> rec : consumer.poll(Duration.ofMillis(100))) {
            if (key.equals(rec.key())) {
                newest = rec.value() == null ? "tombstone" : new String(rec.value(), StandardCharsets.UTF_8);
            }
        }
        return newest;
    }

    @Override
    public void close() {
        consumer.close();
    }
}
