package io.gpufleet.nodedaemon.kafka.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Collects the events of an outbox like a consumer: delivered, reported lost, and unexplained sequences. */
public final class DeliveredEvents {
    private final Map<Topic, NavigableMap<Long, OutboxEntry>> byTopic = new HashMap<>();
    private final Map<Topic, TreeSet<Long>> reportedLost = new HashMap<>();

    public void take(OutboxEntry entry) {
        OutboxEntry before =
                byTopic.computeIfAbsent(entry.topic(), _ -> new TreeMap<>()).putIfAbsent(entry.sequence(), entry);
        if (before != null) {
            assertThat(Arrays.equals(before.json(), entry.json()))
                    .as("one event per id")
                    .isTrue();
        }
        if (entry.type() == EventType.EVENTS_LOST) {
            EventsLost report = message(entry);
            for (long lost = report.getFromSequence(); lost <= report.getToSequence(); lost++) {
                reportedLost
                        .computeIfAbsent(entry.topic(), _ -> new TreeSet<>())
                        .add(lost);
            }
        }
    }

    static EventsLost message(OutboxEntry entry) {
        try {
            return (EventsLost) Codec.fromJson(entry.json(), EventsLost.getDefaultInstance());
        } catch (InvalidProtocolBufferException broken) {
            throw new AssertionError(broken);
        }
    }

    int size() {
        return byTopic.values().stream().mapToInt(Map::size).sum();
    }

    long reportedLost() {
        return reportedLost.values().stream().mapToLong(TreeSet::size).sum();
    }

    /** Sequences, from 1 to the highest delivered, that were neither delivered nor reported lost. */
    public List<String> unexplained() {
        var unexplained = new ArrayList<String>();
        byTopic.forEach((topic, entries) -> {
            for (long number = 1; number < entries.lastKey(); number++) {
                if (!entries.containsKey(number)
                        && !reportedLost
                                .getOrDefault(topic, new TreeSet<>(Collections.emptySet()))
                                .contains(number)) {
                    unexplained.add(topic + " " + number);
                }
            }
        });
        return unexplained;
    }
}
