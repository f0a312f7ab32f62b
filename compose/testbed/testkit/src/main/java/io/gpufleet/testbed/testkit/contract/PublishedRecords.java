package io.gpufleet.testbed.testkit.contract;

import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * The committed records of a broker, each compared once with {@link AsyncApiContract}. Topics are those of the catalogue with any
 * prefix. {@link PublishedRecordsCheck} compares those of each broker that a test closes; one that several test classes share
 * is compared by them.
 */
public final class PublishedRecords {
    private static final ConcurrentMap<String, PublishedRecords> BY_BROKER = new ConcurrentHashMap<>();
    private static final int LINES = 20;
    /** Of a message of which there are more, each fiftieth is compared: a fleet of thousands of nodes repeats itself. */
    private static final int COMPARED_ALL = 2_000;

    private static final int COMPARED_THEN = 50;

    private final KafkaConsumer<String, byte[]> consumer;
    private final Map<TopicPartition, Long> compared = new HashMap<>();
    private final Map<String, Integer> counts = new HashMap<>();
    private final Set<Unfit> expected = new LinkedHashSet<>();
    private final Set<Unfit> found = new LinkedHashSet<>();

    /** Records of a key that fit no schema. */
    private record Unfit(Topic topic, String key) {}

    /** The one contract of this checkout: it is read once. */
    private static final class Contract {
        private static final AsyncApiContract READ = AsyncApiContract.load();
    }

    private PublishedRecords(String bootstrapServers) {
        this.consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", bootstrapServers,
                        "isolation.level", "read_committed",
                        "auto.offset.reset", "earliest",
                        "default.api.timeout.ms", "20000"),
                new StringDeserializer(),
                new ByteArrayDeserializer());
    }

    /** Those of a running broker, by the address of its listener that asks for nothing. */
    public static PublishedRecords of(String bootstrapServers) {
        return BY_BROKER.computeIfAbsent(bootstrapServers, PublishedRecords::new);
    }

    /** Compares what was not compared yet; the broker ends. */
    static void close(String bootstrapServers) {
        PublishedRecords records = of(bootstrapServers);
        try {
            var _ = records.check();
        } finally {
            BY_BROKER.remove(bootstrapServers);
            records.consumer.close();
        }
    }

    /** The test writes a record of a key on purpose that fits no schema. */
    public synchronized PublishedRecords expectUnfit(Topic topic, String key) {
        expected.add(new Unfit(topic, key));
        return this;
    }

    /**
     * Compares what was appended since the last time.
     *
     * @return how many records there are of each message so far, by its name in the document
     * @throws AssertionError with a line for each record that does not fit, and for each expected one that is not there
     */
    public synchronized Map<String, Integer> check() {
        List<String> violations = new ArrayList<>();
        readOn(violations);
        expected.stream()
                .filter(unfit -> !found.contains(unfit))
                .map(unfit -> "every record of key " + unfit.key() + " on " + unfit.topic()
                        + " fits, and the test expects one that does not")
                .forEach(violations::add);
        if (!violations.isEmpty()) {
            throw new AssertionError(violations.size() + " records that proto/asyncapi.yaml does not describe:\n"
                    + String.join("\n", violations.subList(0, Math.min(LINES, violations.size()))));
        }
        return Map.copyOf(counts);
    }

    private void readOn(List<String> violations) {
        // Assigned before the ends are asked for: the consumer warns of each partition that is not.
        consumer.assign(partitions());
        Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(consumer.assignment()));
        ends.entrySet().removeIf(end -> compared.getOrDefault(end.getKey(), 0L) >= end.getValue());
        consumer.assign(ends.keySet());
        ends.keySet().forEach(partition -> consumer.seek(partition, compared.getOrDefault(partition, 0L)));
        while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
            consumer.poll(Duration.ofMillis(100)).forEach(rec -> compare(rec, violations));
        }
        ends.keySet().forEach(partition -> compared.put(partition, consumer.position(partition)));
    }

    private List<TopicPartition> partitions() {
        return consumer.listTopics().values().stream()
                .flatMap(List::stream)
                .filter(partition -> topic(partition.topic()).isPresent() && hasLeader(partition))
                .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                .toList();
    }

    private static boolean hasLeader(PartitionInfo partition) {
        Node leader = partition.leader();
        return leader != null && !leader.isEmpty();
    }

    private static Optional<Topic> topic(String name) {
        return Topics.bySuffix(name.substring(name.lastIndexOf('.') + 1));
    }

    private void compare(ConsumerRecord<String, byte[]> rec, List<String> violations) {
        Topic topic = topic(rec.topic()).orElseThrow();
        String message = AsyncApiContract.message(topic, rec);
        int count = counts.merge(message, 1, Integer::sum);
        if (count > COMPARED_ALL && count % COMPARED_THEN != 0) {
            return;
        }
        List<String> lines = Contract.READ.violations(topic, rec);
        if (lines.isEmpty()) {
            return;
        }
        var unfit = new Unfit(topic, rec.key() == null ? "" : rec.key());
        found.add(unfit);
        if (!expected.contains(unfit)) {
            lines.forEach(line -> violations.add(rec.topic() + "/" + rec.partition() + "/" + rec.offset() + " key "
                    + unfit.key() + " " + message + ": " + line));
        }
    }
}
