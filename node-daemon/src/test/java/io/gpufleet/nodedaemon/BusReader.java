package io.gpufleet.nodedaemon;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Decoded;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads everything that one node wrote, as any consumer would. */
public final class BusReader implements AutoCloseable {
    private static final List<Topic> TOPICS = List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY);

    private final Topics topics = new Topics(Topics.DEFAULT_PREFIX);
    private final KafkaConsumer<String, byte[]> consumer;
    private final Codec codec;
    private final String node;
    private final List<Read> all = new ArrayList<>();

    /** A record, readable. */
    public record Read(Decoded.Event event, String json) {
        /** Position in the order of writing. */
        public String id() {
            return event.envelope().id().toString();
        }
    }

    /** Reads the partitions of a node from their beginning. */
    public BusReader(String bootstrap, String cluster, String node) {
        var properties = new HashMap<String, Object>();
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        this.consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new ByteArrayDeserializer());
        this.node = node;
        this.codec = new Codec(cluster, topics);
        consumer.assign(TOPICS.stream()
                .map(topic -> new TopicPartition(topics.name(topic), Topics.partition(topic, node)))
                .toList());
    }

    /** Everything that was there when it was asked; a record that can not be read is a failure. */
    public List<Read> read() {
        Map<TopicPartition, Long> ends = consumer.endOffsets(consumer.assignment());
        while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
            for (ConsumerRecord<String, byte[]> rec : consumer.poll(Duration.ofMillis(100))) {
                if (!rec.key().equals(node)) {
                    // Another node of the same partition.
                    continue;
                }
                switch (codec.decode(rec)) {
                    case Decoded.Event event -> all.add(new Read(event, new String(rec.value(), UTF_8)));
                    case Decoded.Tombstone _, Decoded.Poison _ ->
                        throw new AssertionError("unreadable record at " + rec.topic() + "/" + rec.offset());
                }
            }
        }
        return List.copyOf(all);
    }

    @Override
    public void close() {
        consumer.close();
    }
}
