package io.gpufleet.nodedaemon.kafka;

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

/** What came out of an outbox, as a consumer sees it: what it has, what it was told is lost, and what is unexplained. */
final class Delivered {
    private final Map<Topic, NavigableMap<Long, OutboxEntry>> byTopic = new HashMap<>();
    private final Map<Topic, TreeSet<Long>> toldLost = new HashMap<>();

    void take(OutboxEntry entry) {
        OutboxEntry before =
                byTopic.computeIfAbsent(entry.topic(), _ -> new TreeMap<>()).putIfAbsent(entry.sequence(), entry);
        if (before != null) {
            assertThat(Arrays.equals(before.json(), entry.json()))
                    .as("an id stands for one event")
                    .isTrue();
        }
        if (entry.type() == EventType.EVENTS_LOST) {
            EventsLost told = message(entry);
            for (long lost = told.getFromSequence(); lost <= told.getToSequence(); lost++) {
                toldLost.computeIfAbsent(entry.topic(), _ -> new TreeSet<>()).add(lost);
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

    long toldLost() {
        return toldLost.values().stream().mapToLong(TreeSet::size).sum();
    }

    /** Numbers that neither came nor were told, by topic; of 1 to the highest that came. */
    List<String> unexplained() {
        var unexplained = new ArrayList<String>();
        byTopic.forEach((topic, entries) -> {
            for (long number = 1; number < entries.lastKey(); number++) {
                if (!entries.containsKey(number)
                        && !toldLost.getOrDefault(topic, new TreeSet<>(Collections.emptySet()))
                                .contains(number)) {
                    unexplained.add(topic + " " + number);
                }
            }
        });
        return unexplained;
    }
}
