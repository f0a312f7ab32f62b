package io.gpufleet.runtime.record;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.NullMarked;

/** Reads a topic to its end, for tests. */
@NullMarked
public final class WrittenRecords {
    /** A transaction that is still open then counts as not committed. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private WrittenRecords() {}

    /**
     * Everything that is committed on a topic now, or also what is not. The answer to a commit comes before the markers that
     * end its transaction, so that a reader of what is committed waits for the end that a reader of everything sees.
     */
    public static List<ConsumerRecord<byte[], byte[]>> read(
            String bootstrap, String topic, int partitions, boolean committed) {
        List<TopicPartition> all = IntStream.range(0, partitions)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
        List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
        try (var everything = consumer(bootstrap, false);
                var consumer = consumer(bootstrap, committed)) {
            Map<TopicPartition, Long> ends = everything.endOffsets(all);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long patience = System.nanoTime() + PATIENCE.toNanos();
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())
                    && System.nanoTime() - patience < 0) {
                consumer.poll(Duration.ofMillis(100)).forEach(found::add);
            }
        }
        return found;
    }

    private static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, boolean committed) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        bootstrap,
                        "isolation.level",
                        committed ? "read_committed" : "read_uncommitted"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }
}
