package io.gpufleet.wire.fold;

import io.gpufleet.proto.bus.v1.Position;
import io.gpufleet.proto.bus.v1.Positions;
import io.gpufleet.wire.Topics;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/** Up to where the inputs were read; by full topic name in memory, by suffix on the log. */
final class InputPositions {
    private record Place(String topic, int partition) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int byTopic = topic.compareTo(other.topic);
            return byTopic != 0 ? byTopic : Integer.compare(partition, other.partition);
        }
    }

    private final Topics topics;
    private final Map<Place, Long> next = new TreeMap<>();
    private boolean changed;

    InputPositions(Topics topics) {
        this.topics = topics;
    }

    void read(String topic, int partition, long offset) {
        next.put(new Place(topic, partition), offset + 1);
        changed = true;
    }

    OptionalLong of(TopicPartition partition) {
        Long offset = next.get(new Place(partition.topic(), partition.partition()));
        return offset == null ? OptionalLong.empty() : OptionalLong.of(offset);
    }

    /** True when something was read since {@link #toMessage()}. */
    boolean changed() {
        return changed;
    }

    Positions toMessage() {
        changed = false;
        var message = Positions.newBuilder();
        next.forEach((place, offset) -> message.addPositions(Position.newBuilder()
                .setTopic(place.topic().substring(topics.prefix().length()))
                .setPartition(place.partition())
                .setNextOffset(offset)));
        return message.build();
    }

    void load(Positions message) {
        next.clear();
        for (Position position : message.getPositionsList()) {
            next.put(
                    new Place(topics.prefix() + position.getTopic(), position.getPartition()),
                    position.getNextOffset());
        }
    }
}
