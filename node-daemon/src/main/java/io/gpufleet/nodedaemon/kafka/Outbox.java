package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What waits for the broker: facts in one lane, telemetry in another, since telemetry goes first when there is no room.
 * Gives every event its sequence. One thread.
 */
final class Outbox implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    private final long epoch;
    private final String bootId;
    private final long maxBytes;
    private final Lane facts;
    private final Lane telemetry;
    private final Map<Topic, Long> sequences = new EnumMap<>(Topic.class);
    private final Map<Range, Loss> losses = new TreeMap<>();
    private long lost;
    private boolean lostSinceDrained;
    private boolean saidFull;

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

        private void add(OutboxEntry entry) {
            from = Math.min(from, entry.sequence());
            to = Math.max(to, entry.sequence());
            byType.merge(entry.type().ceType(), 1L, Long::sum);
        }
    }

    /** Which lane a record came from. */
    enum LaneName {
        FACTS,
        TELEMETRY
    }

    /** A record to be sent. */
    record Outgoing(LaneName lane, Optional<OutboxEntry> entry, Lane.Position after) {}

    Outbox(Path directory, BusSettings settings, long epoch) {
        this.epoch = epoch;
        this.bootId = settings.bootId();
        this.maxBytes = settings.outboxBytes();
        long segmentBytes = Math.clamp(maxBytes / 16, 4 * 1024, 4 * 1024 * 1024);
        this.facts = new Lane(directory.resolve("facts"), segmentBytes);
        this.telemetry = new Lane(directory.resolve("telemetry"), segmentBytes);
    }

    void add(EventType type, Topic topic, String subject, byte[] json, Moment observed) {
        append(entry(type, topic, subject, json, observed));
        while (facts.bytes() + telemetry.bytes() > maxBytes && dropSomething()) {
            lostSinceDrained = true;
        }
        tellLosses(observed);
    }

    private OutboxEntry entry(EventType type, Topic topic, String subject, byte[] json, Moment observed) {
        long sequence = sequences.merge(topic, 1L, Long::sum);
        return new OutboxEntry(topic, type, subject, epoch, sequence, observed.wall(), observed.nanos(), json);
    }

    private void append(OutboxEntry entry) {
        Lane lane = entry.topic() == Topic.TELEMETRY ? telemetry : facts;
        note(lane.append(entry.encode()));
    }

    private boolean dropSomething() {
        Collection<byte[]> dropped = telemetry.dropOldest();
        if (dropped.isEmpty()) {
            dropped = facts.dropOldest();
        }
        note(dropped);
        return !dropped.isEmpty();
    }

    private void note(Collection<byte[]> dropped) {
        for (byte[] record : dropped) {
            try {
                OutboxEntry entry = OutboxEntry.decode(record);
                losses.computeIfAbsent(new Range(entry.topic(), entry.epoch()), _ -> new Loss())
                        .add(entry);
                lost++;
                lostSinceDrained = true;
            } catch (IllegalArgumentException unreadable) {
                lost++;
            }
        }
    }

    private void tellLosses(Moment now) {
        var told = Map.copyOf(losses);
        losses.clear();
        if (!told.isEmpty() && !saidFull) {
            saidFull = true;
            LOG.atWarn()
                    .addKeyValue("bytes", maxBytes)
                    .log("the outbox is full and drops its oldest events; raise GPUFLEET_OUTBOX_BYTES");
        }
        told.forEach((range, loss) -> {
            var message = EventsLost.newBuilder()
                    .setBootId(bootId)
                    .setEpoch(range.epoch())
                    .setFromSequence(loss.from)
                    .setToSequence(loss.to)
                    .putAllLostByType(loss.byType)
                    .setReason("outbox full (" + maxBytes + " bytes)")
                    .build();
            append(entry(EventType.EVENTS_LOST, range.topic(), "", Codec.toJson(message), now));
        });
    }

    /** The next record to be sent, facts before telemetry; its entry is empty where this version can not read it. */
    Optional<Outgoing> next() {
        return facts.next()
                .map(item -> outgoing(LaneName.FACTS, item))
                .or(() -> telemetry.next().map(item -> outgoing(LaneName.TELEMETRY, item)));
    }

    private static Outgoing outgoing(LaneName lane, Lane.Item item) {
        try {
            return new Outgoing(lane, Optional.of(OutboxEntry.decode(item.record())), item.after());
        } catch (IllegalArgumentException ofAnotherVersion) {
            return new Outgoing(lane, Optional.empty(), item.after());
        }
    }

    void acknowledge(LaneName lane, Lane.Position place) {
        switch (lane) {
            case FACTS -> facts.acknowledge(place);
            case TELEMETRY -> telemetry.acknowledge(place);
        }
    }

    void rewind() {
        facts.rewind();
        telemetry.rewind();
    }

    boolean hasUnread() {
        return facts.hasUnread() || telemetry.hasUnread();
    }

    long bytes() {
        return facts.bytes() + telemetry.bytes();
    }

    long lost() {
        return lost;
    }

    boolean diskBroken() {
        return facts.diskBroken() || telemetry.diskBroken();
    }

    /** Whether something was lost since this was last asked. */
    boolean takeLost() {
        boolean was = lostSinceDrained;
        lostSinceDrained = false;
        saidFull = false;
        return was;
    }

    /** From any thread. */
    void force() throws IOException {
        facts.force();
        telemetry.force();
    }

    @Override
    public void close() throws IOException {
        facts.close();
        telemetry.close();
    }
}
