package io.gpufleet.nodedaemon;

import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.wire.EventId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;

/** Checks the sequences of a node's events, in the order of their offsets. */
record EventNumbering(List<EventReader.ReadEvent> all) {
    /** Number of epochs. */
    long epochs() {
        return all.stream()
                .map(read -> read.event().envelope().id().epoch())
                .distinct()
                .count();
    }

    /** Events after a later one that did not appear before it: a consumer would drop them. */
    List<String> overtaken() {
        Map<String, Long> newest = new HashMap<>();
        var seen = new TreeSet<String>();
        var overtaken = new ArrayList<String>();
        for (EventReader.ReadEvent read : all) {
            EventId id = read.event().envelope().id();
            long before = newest.getOrDefault(id.topic() + "/" + id.epoch(), 0L);
            if (seen.add(read.id()) && id.sequence() < before) {
                overtaken.add(read.id());
            }
            newest.put(id.topic() + "/" + id.epoch(), Math.max(before, id.sequence()));
        }
        return overtaken;
    }

    /** Sequences that are missing, by topic and epoch, telemetry included. */
    Map<String, List<Long>> gaps() {
        Map<String, TreeSet<Long>> seen = new TreeMap<>();
        for (EventReader.ReadEvent read : all) {
            EventId id = read.event().envelope().id();
            seen.computeIfAbsent(id.topic() + "/" + id.epoch(), _ -> new TreeSet<>())
                    .add(id.sequence());
        }
        Map<String, List<Long>> gaps = new TreeMap<>();
        seen.forEach((where, sequences) -> {
            List<Long> missing = LongStream.rangeClosed(1, sequences.last())
                    .boxed()
                    .filter(sequence -> !sequences.contains(sequence))
                    .toList();
            if (!missing.isEmpty()) {
                gaps.put(where, missing);
            }
        });
        return gaps;
    }
}
