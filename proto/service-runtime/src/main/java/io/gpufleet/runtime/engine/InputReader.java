package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.order.InputOrder;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.runtime.record.InputOffsets;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the inputs from where the changelog says, in the order of their append times while there is a backlog (decision 0014);
 * what the broker no longer has is counted and reported.
 */
final class InputReader implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(InputReader.class);
    /** Of a partition without a leader no position is found. */
    private static final Duration SETTLE = Duration.ofSeconds(1);

    /** Records that one transaction takes in. */
    private static final int BATCH = 5_000;

    private final EngineParts<?> parts;
    private final InputOffsets offsets;
    private final Supplier<BrokerProbe.Ends> ends;
    private final MutableCounters counting;
    private final Consumer<byte[], byte[]> consumer;
    private final List<TopicPartition> partitions;
    private final PartitionProgress progress;
    private final InputOrder order;
    private final Set<TopicPartition> paused = new HashSet<>();
    /** Offsets behind what was polled. */
    private final Map<TopicPartition, Long> positions = new HashMap<>();

    InputReader(EngineParts<?> parts, InputOffsets offsets, MutableCounters counting, Supplier<BrokerProbe.Ends> ends) {
        this.parts = parts;
        this.offsets = offsets;
        this.counting = counting;
        this.ends = ends;
        this.partitions = partitions(parts, parts.spec().read());
        this.progress = new PartitionProgress(parts, partitions);
        // Of a heartbeat only the newest matters: facts must not wait for hours of them.
        this.order = new InputOrder(
                partitions(parts, parts.spec().inputs()),
                partitions(parts, parts.spec().heartbeats()),
                parts.clients().nanos());
        this.consumer = parts.clients().reader("inputs");
    }

    private static List<TopicPartition> partitions(EngineParts<?> parts, Set<Topic> topics) {
        return topics.stream()
                .flatMap(topic -> parts.partitions(topic).stream())
                .toList();
    }

    /** Takes up the stored offsets; a topic that was recreated meanwhile is read from its beginning. */
    void assign(Map<String, String> topicIds) {
        String changelog = parts.codec().topics().name(parts.spec().changelog());
        if (offsets.identifyChangelog(changelog, topicIds.getOrDefault(changelog, ""))) {
            LOG.atError().addKeyValue("topic", changelog).log("own changelog was recreated, every input is read again");
        }
        parts.spec().read().stream()
                .map(topic -> parts.codec().topics().name(topic))
                .forEach(topic -> {
                    if (offsets.identify(topic, topicIds.getOrDefault(topic, ""))) {
                        LOG.atWarn()
                                .addKeyValue("topic", topic)
                                .log("topic was recreated, it is read from its beginning");
                    }
                });
        consumer.assign(partitions);
        List<TopicPartition> fresh = new ArrayList<>();
        partitions.forEach(partition -> offsets.of(partition)
                .ifPresentOrElse(
                        at -> {
                            consumer.seek(partition, at);
                            positions.put(partition, at.offset());
                        },
                        () -> fresh.add(partition)));
        consumer.seekToBeginning(fresh);
        settle();
    }

    /**
     * Finds and validates every position before the first fetch, and so before this replica counts as the leader. Otherwise
     * that fetch asks for the partitions whose positions are known by then, and where these have no records the broker keeps it
     * for fetch.max.wait.ms; records of the others are read only after that.
     */
    private void settle() {
        long end = parts.clients().nanos() + SETTLE.toNanos();
        for (TopicPartition partition : partitions) {
            locate(partition, Duration.ofNanos(Math.max(0, end - parts.clients().nanos())));
        }
    }

    /** Records that may be applied now; waits for some only where none are there. */
    List<ConsumerRecord<byte[], byte[]>> poll(Duration wait) {
        List<ConsumerRecord<byte[], byte[]>> records =
                order.take(BATCH, parts.clients().nanos());
        pauseHeld();
        receive(records.isEmpty() ? wait : Duration.ZERO);
        records.addAll(order.take(BATCH - records.size(), parts.clients().nanos()));
        return records;
    }

    private void receive(Duration wait) {
        try {
            var polled = consumer.poll(wait);
            order.add(polled);
            polled.nextOffsets().forEach((partition, next) -> positions.put(partition, next.offset()));
        } catch (OffsetOutOfRangeException gone) {
            readOn(gone);
        }
        if (!order.held().isEmpty()) {
            locateUnknown();
        }
        BrokerProbe.Ends known = ends.get();
        order.compare(
                known.offsets(),
                known.atNanos(),
                this::polledTo,
                parts.clients().nanos());
    }

    /** A partition that is ahead of others is not read on until they have followed. */
    private void pauseHeld() {
        Set<TopicPartition> held = order.held();
        if (held.equals(paused)) {
            return;
        }
        consumer.resume(
                paused.stream().filter(partition -> !held.contains(partition)).toList());
        consumer.pause(
                held.stream().filter(partition -> !paused.contains(partition)).toList());
        paused.clear();
        paused.addAll(held);
    }

    private long polledTo(TopicPartition partition) {
        return positions.getOrDefault(partition, 0L);
    }

    private long takenTo(TopicPartition partition) {
        return order.firstHeld(partition).orElseGet(() -> polledTo(partition));
    }

    private void readOn(OffsetOutOfRangeException gone) {
        if (!(gone instanceof LogTruncationException truncated)) {
            skip(gone.offsetOutOfRangePartitions());
            return;
        }
        truncated.divergentOffsets().forEach((partition, at) -> {
            LOG.atWarn()
                    .addKeyValue("partition", partition)
                    .addKeyValue("offset", at.offset())
                    .log("log was truncated, reading on from where it differs");
            consumer.seek(partition, at);
            positions.put(partition, at.offset());
            order.drop(partition, at.offset());
        });
    }

    /**
     * Waits without a request to the broker: records that arrive one by one are polled together afterwards. A broker looks at
     * every partition of a request for each of them.
     */
    void rest(Duration wait) {
        long end = parts.clients().nanos() + wait.toNanos();
        consumer.pause(partitions);
        paused.addAll(partitions);
        try {
            for (long left = wait.toNanos();
                    left > 0;
                    left = end - parts.clients().nanos()) {
                receive(Duration.ofNanos(left));
            }
        } finally {
            consumer.resume(partitions);
            paused.clear();
        }
    }

    /** Retention has passed us, or the topic is another one: read on from its beginning. */
    private void skip(Map<TopicPartition, Long> lost) {
        Set<TopicPartition> which = lost.keySet();
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(which);
        lost.forEach((partition, wanted) -> {
            long beginning = beginnings.getOrDefault(partition, 0L);
            long skipped = Math.max(0, beginning - wanted);
            counting.skippedOffsets.addAndGet(skipped);
            LOG.atError()
                    .addKeyValue("topic", partition.topic())
                    .addKeyValue("partition", partition.partition())
                    .addKeyValue("offset", wanted)
                    .addKeyValue("skipped", skipped)
                    .log("broker no longer has this offset, reading from the beginning of what it has");
        });
        consumer.seekToBeginning(which);
        which.forEach(positions::remove);
    }

    /** Updates progress and lag. */
    void measure(long nanos, Instant now) {
        locateUnknown();
        progress.update(ends.get(), this::takenTo, nanos, now);
        counting.lag.set(progress.lag());
    }

    private void locateUnknown() {
        partitions.stream()
                .filter(partition -> !positions.containsKey(partition))
                .forEach(partition -> locate(partition, Duration.ZERO));
    }

    /** Where a partition begins is told by no poll as long as it has no records. */
    private void locate(TopicPartition partition, Duration wait) {
        try {
            positions.put(partition, consumer.position(partition, wait));
        } catch (TimeoutException unknown) {
            LOG.atTrace().addKeyValue("partition", partition).log("the beginning is not known yet");
        } catch (OffsetOutOfRangeException gone) {
            readOn(gone);
        }
    }

    Progress progress() {
        return progress;
    }

    @Override
    public void close() {
        counting.lag.set(ProjectionCounters.UNKNOWN);
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
    }
}
