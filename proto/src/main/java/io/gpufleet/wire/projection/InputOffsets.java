package io.gpufleet.wire.projection;

import io.gpufleet.proto.bus.v1.CommittedOffset;
import io.gpufleet.proto.bus.v1.CommittedOffsets;
import io.gpufleet.wire.Topics;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/** Offsets up to which the inputs were read; by full topic name in memory, by suffix on the log. */
final class InputOffsets {
    private record InputPartition(String topic, int partition) implements Comparable<InputPartition> {
        @Override
        public int compareTo(InputPartition other) {
            int byTopic = topic.compareTo(other.topic);
            return byTopic != 0 ? byTopic : Integer.compare(partition, other.partition);
        }
    }

    private final Topics topics;
    private final Map<InputPartition, Long> nextOffsets = new TreeMap<>();
    private boolean changed;

    InputOffsets(Topics topics) {
        this.topics = topics;
    }

    void advance(String topic, int partition, long offset) {
        nextOffsets.put(new InputPartition(topic, partition), offset + 1);
        changed = true;
    }

    OptionalLong nextOffset(TopicPartition partition) {
        Long offset = nextOffsets.get(new InputPartition(partition.topic(), partition.partition()));
        return offset == null ? OptionalLong.empty() : OptionalLong.of(offset);
    }

    /** Returns whether records were read since the last call of {@link #toMessage()}. */
    boolean changed() {
        return changed;
    }

    CommittedOffsets toMessage() {
        changed = false;
        var message = CommittedOffsets.newBuilder();
        nextOffsets.forEach((partition, offset) -> message.addOffsets(CommittedOffset.newBuilder()
                .setTopic(partition.topic().substring(topics.prefix().length()))
                .setPartition(partition.partition())
                .setNextOffset(offset)));
        return message.build();
    }

    void load(CommittedOffsets message) {
        nextOffsets.clear();
        for (CommittedOffset committed : message.getOffsetsList()) {
            nextOffsets.put(
                    new InputPartition(topics.prefix() + committed.getTopic(), committed.getPartition()),
                    committed.getNextOffset());
        }
    }
}
