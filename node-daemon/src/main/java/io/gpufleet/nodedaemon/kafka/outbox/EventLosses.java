package io.gpufleet.nodedaemon.kafka.outbox;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Dropped events that were not reported yet, by topic and epoch. */
final class EventLosses {
    private final Map<LossKey, LossRange> unreported = new TreeMap<>();

    /** The losses of one topic and epoch, as the message that reports them on that topic. */
    record LossReport(Topic topic, EventsLost message) {}

    private record LossKey(Topic topic, long epoch) implements Comparable<LossKey> {
        @Override
        public int compareTo(LossKey other) {
            int byTopic = topic.compareTo(other.topic);
            return byTopic != 0 ? byTopic : Long.compare(epoch, other.epoch);
        }
    }

    private static final class LossRange {
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
        return unreported.isEmpty();
    }

    /** Records a lost event. Losses that the event itself reported are recorded again. */
    void add(OutboxEntry entry) {
        if (entry.type() == EventType.EVENTS_LOST) {
            addReported(entry);
        }
        of(entry.topic(), entry.epoch())
                .add(entry.sequence(), entry.sequence(), Map.of(entry.type().ceType(), 1L));
    }

    /** Records events of one type with consecutive sequences that were lost before they were appended. */
    void add(EventType type, Topic topic, long epoch, long from, long to) {
        of(topic, epoch).add(from, to, Map.of(type.ceType(), to - from + 1));
    }

    private void addReported(OutboxEntry entry) {
        try {
            if (Codec.fromJson(entry.json(), EventsLost.getDefaultInstance()) instanceof EventsLost lost) {
                of(entry.topic(), lost.getEpoch())
                        .add(lost.getFromSequence(), lost.getToSequence(), lost.getLostByTypeMap());
            }
        } catch (InvalidProtocolBufferException ofAnotherVersion) {
            // The consumer sees an unexplained gap and counts it.
        }
    }

    private LossRange of(Topic topic, long epoch) {
        return unreported.computeIfAbsent(new LossKey(topic, epoch), _ -> new LossRange());
    }

    /** Returns the unreported losses and clears them. */
    List<LossReport> takeReports(String bootId, String reason) {
        var reports = new ArrayList<LossReport>();
        unreported.forEach((range, loss) -> reports.add(new LossReport(
                range.topic(),
                EventsLost.newBuilder()
                        .setBootId(bootId)
                        .setEpoch(range.epoch())
                        .setFromSequence(loss.from)
                        .setToSequence(loss.to)
                        .putAllLostByType(loss.byType)
                        .setReason(reason)
                        .build())));
        unreported.clear();
        return reports;
    }
}
