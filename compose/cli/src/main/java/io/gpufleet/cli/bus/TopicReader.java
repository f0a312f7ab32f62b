package io.gpufleet.cli.bus;

import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads committed records of topics, with assigned partitions and without a consumer group. */
public final class TopicReader implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(500);
    /** Of some KiB each, they fit the heap of the command line. */
    private static final int MAX_SORTED = 10_000;

    private final KafkaConsumer<String, byte[]> consumer;
    private final Topics names;
    private final List<TopicPartition> partitions = new ArrayList<>();

    /** Reads every partition of the topics, whose names are those of a prefix. */
    public TopicReader(KafkaClients kafka, Topics names, List<Topic> topics) {
        this.names = names;
        Properties settings = kafka.properties("gpufleet-reader");
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "10000");
        this.consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
        for (Topic topic : topics) {
            for (int partition = 0; partition < topic.partitions(); partition++) {
                partitions.add(new TopicPartition(names.name(topic), partition));
            }
        }
        consumer.assign(partitions);
    }

    /** Passes on records appended from now on, until the thread is interrupted. */
    public void follow(Consumer<ConsumerRecord<String, byte[]>> reader) {
        consumer.seekToEnd(partitions);
        partitions.forEach(consumer::position);
        while (!Thread.currentThread().isInterrupted()) {
            consumer.poll(POLL).forEach(reader);
        }
    }

    /**
     * Passes on records appended since an instant, in the order of time unless they are very many, and new ones until the
     * thread is interrupted.
     */
    public void followSince(Instant since, Consumer<ConsumerRecord<String, byte[]>> reader) {
        var times = new HashMap<TopicPartition, Long>();
        partitions.forEach(partition -> times.put(partition, since.toEpochMilli()));
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        consumer.offsetsForTimes(times)
                .forEach((partition, found) ->
                        consumer.seek(partition, found == null ? ends.getOrDefault(partition, 0L) : found.offset()));
        long waiting = ends.entrySet().stream()
                .mapToLong(end -> end.getValue() - consumer.position(end.getKey()))
                .sum();
        if (waiting <= MAX_SORTED) {
            var backlog = new ArrayList<ConsumerRecord<String, byte[]>>();
            readUntil(ends, backlog::add);
            backlog.sort(Comparator.comparingLong(ConsumerRecord::timestamp));
            backlog.forEach(reader);
        }
        while (!Thread.currentThread().isInterrupted()) {
            consumer.poll(POLL).forEach(reader);
        }
    }

    /** Passes on every record up to now; returns their number. */
    public long readAll(Consumer<ConsumerRecord<String, byte[]>> reader) {
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        consumer.seekToBeginning(partitions);
        return readUntil(ends, reader);
    }

    private long readUntil(Map<TopicPartition, Long> ends, Consumer<ConsumerRecord<String, byte[]>> reader) {
        long count = 0;
        while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
            for (ConsumerRecord<String, byte[]> rec : consumer.poll(POLL)) {
                reader.accept(rec);
                count++;
            }
        }
        return count;
    }

    /** The name of a record's topic without the prefix of the fleet. */
    public String shortName(ConsumerRecord<String, byte[]> rec) {
        return rec.topic().substring(names.prefix().length());
    }

    @Override
    public void close() {
        consumer.close();
    }
}
