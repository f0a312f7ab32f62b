package io.gpufleet.nodedaemon.kafka;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What had to be dropped and was not told yet, by topic and start. */
final class Losses {
    private final Map<Range, Loss> untold = new TreeMap<>();

    /** Losses of one topic and start, ready to be told on that topic. */
    record Told(Topic topic, EventsLost message) {}

    private record Range(Topic topic, long epoch) implements Comparable<Range> {
        @Override
        public int compareTo(Range other) {
            int byTopic = topic.compareTo(other.topic);
            return byTopic != 0 ? byTopic : Long.compare(epoch, other.epoch);
        }
    }

    private static final class Loss {
        private long from = Long.MAX_VALUE;
        private long to;
        private final Map<String, Long> byType = new TreeMap<>();

        private void add(long first, long last, Map<String, Long> types) {
            from = Math.min(from, first);
            to = Math.max(to, last);
            types.forEach((type, count) -> byType.merge(type, count, Long::sum));
        }
    }

    boolean isEmpty() {
        return untold.isEmpty();
    }

    /** One event is lost. Where it told of losses itself, those are told again. */
    void add(OutboxEntry entry) {
        if (entry.type() == EventType.EVENTS_LOST) {
            inherit(entry);
        }
        of(entry.topic(), entry.epoch())
                .add(entry.sequence(), entry.sequence(), Map.of(entry.type().ceType(), 1L));
    }

    /** So many events of a type, with numbers in a row, were lost before they were kept. */
    void add(EventType type, Topic topic, long epoch, long from, long to) {
        of(topic, epoch).add(from, to, Map.of(type.ceType(), to - from + 1));
    }

    private void inherit(OutboxEntry entry) {
        try {
            if (Codec.fromJson(entry.json(), EventsLost.getDefaultInstance()) instanceof EventsLost told) {
                of(entry.topic(), told.getEpoch())
                        .add(told.getFromSequence(), told.getToSequence(), told.getLostByTypeMap());
            }
        } catch (InvalidProtocolBufferException ofAnotherVersion) {
            // Then the reader sees a gap that nobody explains, and counts it.
        }
    }

    private Loss of(Topic topic, long epoch) {
        return untold.computeIfAbsent(new Range(topic, epoch), _ -> new Loss());
    }

    /** Everything untold, which now counts as told. */
    List<Told> take(String bootId, String reason) {
        var told = new ArrayList<Told>();
        untold.forEach((range, loss) -> told.add(new Told(
                range.topic(),
                EventsLost.newBuilder()
                        .setBootId(bootId)
                        .setEpoch(range.epoch())
                        .setFromSequence(loss.from)
                        .setToSequence(loss.to)
                        .putAllLostByType(loss.byType)
                        .setReason(reason)
                        .build())));
        untold.clear();
        return told;
    }
}
