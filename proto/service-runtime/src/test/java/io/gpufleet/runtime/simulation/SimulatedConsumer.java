package io.gpufleet.runtime.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/** Reads assigned partitions of a {@link SimulatedBroker}, in any order between them. */
public final class SimulatedConsumer extends MockConsumer<byte[], byte[]> {
    private static final int MOST = 64;
    /** Now and then a poll finds a backlog. */
    private static final int BACKLOG = 2_000;

    private final SimulatedBroker broker;
    private final Link link;
    private final Random random;
    private final Map<TopicPartition, Long> positions = new HashMap<>();
    private final List<TopicPartition> order = new ArrayList<>();
    private final Set<TopicPartition> paused = new HashSet<>();

    /** A consumer without partitions. */
    public SimulatedConsumer(SimulatedBroker broker, Link link, Random random) {
        super("none");
        this.broker = broker;
        this.link = link;
        this.random = random;
    }

    @Override
    public Set<TopicPartition> assignment() {
        return Set.copyOf(order);
    }

    @Override
    public void assign(Collection<TopicPartition> partitions) {
        order.clear();
        order.addAll(partitions);
    }

    @Override
    public void seek(TopicPartition partition, OffsetAndMetadata at) {
        positions.put(partition, at.offset());
    }

    @Override
    public void seekToBeginning(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> positions.put(partition, 0L));
    }

    @Override
    public long position(TopicPartition partition) {
        return positions.getOrDefault(partition, 0L);
    }

    @Override
    public long position(TopicPartition partition, Duration timeout) {
        return position(partition);
    }

    @Override
    public void pause(Collection<TopicPartition> partitions) {
        paused.addAll(partitions);
    }

    @Override
    public void resume(Collection<TopicPartition> partitions) {
        paused.removeAll(partitions);
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        Lockstep.pause();
        if (link.isCut()) {
            throw new TimeoutException("no answer to ListOffsets");
        }
        Map<TopicPartition, Long> ends = new HashMap<>();
        partitions.forEach(partition -> ends.put(partition, broker.end(partition)));
        return ends;
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        Lockstep.pause();
        if (link.isCut()) {
            return ConsumerRecords.empty();
        }
        if (!paused.containsAll(order)) {
            broker.fetch();
        }
        Collections.shuffle(order, random);
        int most = 1 + random.nextInt(random.nextInt(4) == 0 ? BACKLOG : MOST);
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> found = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        for (TopicPartition partition : order) {
            long position = position(partition);
            if (paused.contains(partition) || most <= 0 || position >= broker.end(partition)) {
                continue;
            }
            List<ConsumerRecord<byte[], byte[]>> records = broker.read(partition, position, most);
            long after = records.size() < most
                    ? broker.end(partition)
                    : records.getLast().offset() + 1;
            most -= records.size();
            positions.put(partition, after);
            next.put(partition, new OffsetAndMetadata(after, Optional.empty(), ""));
            if (!records.isEmpty()) {
                found.put(partition, records);
            }
        }
        return new ConsumerRecords<>(found, next);
    }

    @Override
    public void close(CloseOptions options) {
        order.clear();
    }
}
