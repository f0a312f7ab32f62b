package io.gpufleet.testbed.testkit;

import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads the committed records of one key from the beginning of its topics. */
public final class EventReader implements AutoCloseable {
    private final KafkaConsumer<String, byte[]> consumer;
    private final Codec codec;
    private final String key;
    private final List<ReadEvent> events = new ArrayList<>();
    private String latest = "";

    /**
     * An event with its JSON.
     *
     * @param event the decoded record
     * @param json value of the record
     */
    public record ReadEvent(DecodedRecord.Event event, String json) {
        /** Identity of the event. */
        public String id() {
            return event.envelope().id().toString();
        }
    }

    /** Reads the partitions of a key, for example the name of a node. */
    public EventReader(String bootstrapServers, Codec codec, String key, Topic... topics) {
        this.codec = codec;
        this.key = key;
        this.consumer = consumer(bootstrapServers);
        consumer.assign(Arrays.stream(topics)
                .map(topic -> new TopicPartition(codec.topics().name(topic), Topics.partition(topic, key)))
                .toList());
    }

    /** Reads everything that the daemon of a node produces. */
    public static EventReader ofNode(String bootstrapServers, Codec codec, String node) {
        return new EventReader(
                bootstrapServers, codec, node, Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY);
    }

    /** Every committed record of a topic up to now. */
    public static List<ConsumerRecord<String, byte[]>> all(String bootstrapServers, Topics topics, Topic topic) {
        try (KafkaConsumer<String, byte[]> consumer = consumer(bootstrapServers)) {
            consumer.assign(IntStream.range(0, topic.partitions())
                    .mapToObj(partition -> new TopicPartition(topics.name(topic), partition))
                    .toList());
            List<ConsumerRecord<String, byte[]>> records = new ArrayList<>();
            poll(consumer, records::add);
            return records;
        }
    }

    private static KafkaConsumer<String, byte[]> consumer(String bootstrapServers) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", bootstrapServers,
                        "isolation.level", "read_committed",
                        "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new ByteArrayDeserializer());
    }

    /** All events up to now; a record that is no event is an error. */
    public List<ReadEvent> read() {
        poll(record -> {
            switch (codec.decode(record)) {
                case DecodedRecord.Event event ->
                    events.add(new ReadEvent(event, new String(record.value(), StandardCharsets.UTF_8)));
                case DecodedRecord.Tombstone _, DecodedRecord.UnknownType _, DecodedRecord.Poison _ ->
                    throw new AssertionError("unreadable record at " + record.topic() + "/" + record.offset());
            }
        });
        return List.copyOf(events);
    }

    /** The latest value as text; {@code tombstone} for a deleted key, empty for one that was never written. */
    public String latest() {
        poll(record ->
                latest = record.value() == null ? "tombstone" : new String(record.value(), StandardCharsets.UTF_8));
        return latest;
    }

    private void poll(Consumer<ConsumerRecord<String, byte[]>> handler) {
        poll(consumer, record -> {
            // Other keys share the partition.
            if (key.equals(record.key())) {
                handler.accept(record);
            }
        });
    }

    private static void poll(KafkaConsumer<String, byte[]> consumer, Consumer<ConsumerRecord<String, byte[]>> handler) {
        Map<TopicPartition, Long> ends = consumer.endOffsets(consumer.assignment());
        while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
            consumer.poll(Duration.ofMillis(100)).forEach(handler);
        }
    }

    @Override
    public void close() {
        consumer.close();
    }
}
