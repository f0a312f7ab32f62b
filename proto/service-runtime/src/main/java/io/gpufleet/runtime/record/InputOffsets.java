package io.gpufleet.runtime.record;

import io.gpufleet.proto.bus.v1.CommittedOffset;
import io.gpufleet.proto.bus.v1.CommittedOffsets;
import io.gpufleet.runtime.sequence.WriterSequences;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Next offset of every input partition, by full topic name in memory and by suffix on the log, and the sequences of the
 * services that were read before it.
 */
public final class InputOffsets {
    private record Next(long offset, int leaderEpoch) {}

    private final Topics topics;
    private final Map<TopicPartition, Next> next =
            new TreeMap<>(Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
    private final Map<String, String> topicIds = new TreeMap<>();
    private final WriterSequences writers = new WriterSequences();
    private boolean changed;

    /** Nothing read yet, of the topics of one prefix. */
    public InputOffsets(Topics topics) {
        this.topics = topics;
    }

    /** A record was read and is part of the batch. */
    public void read(ConsumerRecord<byte[], byte[]> rec) {
        next.put(
                new TopicPartition(rec.topic(), rec.partition()),
                new Next(rec.offset() + 1, rec.leaderEpoch().orElse(-1)));
        changed = true;
    }

    /** These records were read, in this order, and are part of the batch; those of one partition follow each other mostly. */
    public void read(List<ConsumerRecord<byte[], byte[]>> records) {
        for (int i = 0; i < records.size(); i++) {
            if (i == records.size() - 1 || !isOfSamePartition(records.get(i), records.get(i + 1))) {
                read(records.get(i));
            }
        }
    }

    private static boolean isOfSamePartition(ConsumerRecord<byte[], byte[]> one, ConsumerRecord<byte[], byte[]> other) {
        return one.partition() == other.partition() && one.topic().equals(other.topic());
    }

    /** An event was read. */
    public void read(EventSource source, EventId id) {
        writers.read(source, id);
    }

    /** Gaps in the sequences of services that nothing fills any more. */
    public List<WriterSequences.Gap> gaps(boolean caughtUp, Duration wait, Instant now) {
        List<WriterSequences.Gap> gaps = writers.gaps(caughtUp, wait, now);
        changed |= !gaps.isEmpty();
        return gaps;
    }

    /** Where to read on; empty for a partition that was never read. */
    public Optional<OffsetAndMetadata> of(TopicPartition partition) {
        Next found = next.get(partition);
        if (found == null) {
            return Optional.empty();
        }
        Optional<Integer> epoch = found.leaderEpoch() < 0 ? Optional.empty() : Optional.of(found.leaderEpoch());
        return Optional.of(new OffsetAndMetadata(found.offset(), epoch, ""));
    }

    /** Names the topic's id of today. True when offsets of a topic of the same name but another id were dropped. */
    public boolean identify(String topic, String id) {
        return replaceId(topic, id)
                && next.keySet().removeIf(partition -> partition.topic().equals(topic));
    }

    /**
     * Names the changelog's id of today. True when the offsets were of another one, and were dropped: a leader goes on to write
     * them for some seconds after the states were deleted.
     */
    public boolean identifyChangelog(String topic, String id) {
        if (!replaceId(topic, id)) {
            return false;
        }
        next.clear();
        return true;
    }

    /** Keeps the id of today; true when another one was known. */
    private boolean replaceId(String topic, String id) {
        String known = topicIds.put(topic, id);
        boolean another = known != null && !known.equals(id);
        changed |= another;
        return another;
    }

    /** True when something was read since {@link #toMessage()}. */
    public boolean changed() {
        return changed;
    }

    /** All positions by topic and partition, so that the same positions are the same bytes. */
    public CommittedOffsets toMessage() {
        changed = false;
        var message = CommittedOffsets.newBuilder();
        next.forEach((partition, at) -> message.addOffsets(CommittedOffset.newBuilder()
                .setTopic(suffix(partition.topic()))
                .setPartition(partition.partition())
                .setNextOffset(at.offset())
                .setLeaderEpoch(at.leaderEpoch())));
        topicIds.forEach((topic, id) -> message.putTopicIds(suffix(topic), id));
        message.addAllWriters(writers.toMessages());
        return message.build();
    }

    private String suffix(String topic) {
        return topic.substring(topics.prefix().length());
    }

    /** Replaces all positions by those of a changelog. */
    public void load(CommittedOffsets message) {
        next.clear();
        topicIds.clear();
        message.getOffsetsList()
                .forEach(offset -> next.put(
                        new TopicPartition(topics.prefix() + offset.getTopic(), offset.getPartition()),
                        new Next(offset.getNextOffset(), offset.getLeaderEpoch())));
        message.getTopicIdsMap().forEach((topic, id) -> topicIds.put(topics.prefix() + topic, id));
        writers.load(message.getWritersList());
        changed = false;
    }
}
