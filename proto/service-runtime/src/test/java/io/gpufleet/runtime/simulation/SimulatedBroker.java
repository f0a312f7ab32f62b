package io.gpufleet.runtime.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/**
 * Partitions as a consumer of committed records sees them: a transaction appears as a whole, with a commit marker behind
 * it in each of its partitions, and compaction is always done. One transactional id, of which the newest producer alone may commit.
 */
public final class SimulatedBroker {
    private final SimulatedTime time;
    private final Topics topics;
    private final Map<TopicPartition, List<@Nullable ConsumerRecord<byte[], byte[]>>> logs = new HashMap<>();
    private final Map<String, Integer> newest = new HashMap<>();
    private long producerEpoch;
    private int fetches;

    /** A broker without records. */
    public SimulatedBroker(SimulatedTime time, Topics topics) {
        this.time = time;
        this.topics = topics;
    }

    /** The broker's clock. */
    public SimulatedTime time() {
        return time;
    }

    /** A consumer asks for records of some partition. */
    void fetch() {
        fetches++;
    }

    /** How often a consumer has asked for records. */
    public int fetches() {
        return fetches;
    }

    /** Appends a record of somebody who uses no transactions. */
    public ConsumerRecord<byte[], byte[]> append(ProducerRecord<byte[], byte[]> rec) {
        Topic topic = topics.byName(rec.topic()).orElseThrow();
        byte[] key = rec.key();
        int partition = key == null ? 0 : topic.partitionOf(new String(key, UTF_8));
        var at = new TopicPartition(rec.topic(), partition);
        List<@Nullable ConsumerRecord<byte[], byte[]>> log = log(at);
        var appended = new ConsumerRecord<>(
                at.topic(),
                partition,
                log.size(),
                time.now().toEpochMilli(),
                TimestampType.LOG_APPEND_TIME,
                key == null ? -1 : key.length,
                rec.value() == null ? -1 : rec.value().length,
                key,
                rec.value(),
                new RecordHeaders(rec.headers().toArray()),
                Optional.<Integer>empty());
        if (topic.compacted() && key != null) {
            Integer older = newest.put(rec.topic() + "/" + new String(key, UTF_8), log.size());
            if (older != null) {
                log.set(older, null);
            }
        }
        log.add(appended);
        return appended;
    }

    /** Fences every older producer; the epoch of the new one. */
    long fence() {
        return ++producerEpoch;
    }

    /** True for the producer that nobody has fenced. */
    boolean newest(long epoch) {
        return epoch == producerEpoch;
    }

    /** Appends a transaction, and tells of it before anybody reads it. */
    void commit(
            long epoch,
            List<ProducerRecord<byte[], byte[]>> records,
            Consumer<List<ConsumerRecord<byte[], byte[]>>> committed) {
        if (!newest(epoch)) {
            throw new ProducerFencedException("epoch " + epoch + " is older than " + producerEpoch);
        }
        List<ConsumerRecord<byte[], byte[]>> appended =
                records.stream().map(this::append).toList();
        records.stream()
                .map(ProducerRecord::topic)
                .distinct()
                .forEach(topic -> logs.entrySet().stream()
                        .filter(log -> log.getKey().topic().equals(topic))
                        .filter(log ->
                                !log.getValue().isEmpty() && log.getValue().getLast() != null)
                        .forEach(log -> log.getValue().add(null)));
        committed.accept(appended);
    }

    /** Up to so many records of a partition, from an offset on. */
    List<ConsumerRecord<byte[], byte[]>> read(TopicPartition partition, long from, int most) {
        List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
        List<@Nullable ConsumerRecord<byte[], byte[]>> log = log(partition);
        for (int at = Math.toIntExact(from); at < log.size() && found.size() < most; at++) {
            ConsumerRecord<byte[], byte[]> rec = log.get(at);
            if (rec != null) {
                found.add(rec);
            }
        }
        return found;
    }

    /** Offset behind the last record of a partition. */
    public long end(TopicPartition partition) {
        return log(partition).size();
    }

    private List<@Nullable ConsumerRecord<byte[], byte[]>> log(TopicPartition partition) {
        return logs.computeIfAbsent(partition, _ -> new ArrayList<>());
    }
}
