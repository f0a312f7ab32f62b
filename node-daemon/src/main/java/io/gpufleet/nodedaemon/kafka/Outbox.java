package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    private final Losses losses = new Losses();
    private long lost;
    private boolean lostSinceDrained;
    private boolean saidLost;

    /** Which lane a record came from. */
    enum LaneName {
        FACTS,
        TELEMETRY
    }

    /** A record to be sent. */
    record Outgoing(LaneName lane, Optional<OutboxEntry> entry, Lane.Position after) {}

    Outbox(Disk disk, Path directory, BusSettings settings, long epoch) {
        this.epoch = epoch;
        this.bootId = settings.bootId();
        this.maxBytes = settings.outboxBytes();
        long segmentBytes = Math.clamp(maxBytes / 16, 4 * 1024, 4 * 1024 * 1024);
        this.facts = new Lane(disk, directory.resolve("facts"), segmentBytes);
        this.telemetry = new Lane(disk, directory.resolve("telemetry"), segmentBytes);
    }

    /** Keeps an event under the next number of its topic. Throws nothing, whatever the disk does. */
    void add(EventType type, Topic topic, String subject, byte[] json, Moment observed) {
        facts.flush();
        telemetry.flush();
        append(entry(type, topic, subject, json, observed));
        makeRoom();
        tellLosses(
                diskBroken() ? "the disk refuses and memory is full" : "outbox full (" + maxBytes + " bytes)",
                observed);
    }

    /** Gives numbers to events that were dropped before they came here, and tells of them. */
    void lose(EventType type, Topic topic, long count, Moment now) {
        long last = sequences.merge(topic, count, Long::sum);
        losses.add(type, topic, epoch, last - count + 1, last);
        lostSinceDrained = true;
        tellLosses("the disk hung", now);
    }

    private OutboxEntry entry(EventType type, Topic topic, String subject, byte[] json, Moment observed) {
        long sequence = sequences.merge(topic, 1L, Long::sum);
        return new OutboxEntry(topic, type, subject, epoch, sequence, observed.wall(), observed.nanos(), json);
    }

    private void append(OutboxEntry entry) {
        (entry.topic() == Topic.TELEMETRY ? telemetry : facts).append(entry.encode());
    }

    private void makeRoom() {
        while (bytes() > maxBytes && dropOldestSegment()) {
            // until it fits
        }
        for (Lane lane : List.of(telemetry, facts)) {
            // A full disk takes records again once a segment is given up; any other trouble would only cost that too.
            if (lane.isMemoryFull() && lane.isDiskFull() && dropOldestSegment()) {
                lane.flush();
            }
            while (lane.isMemoryFull()) {
                note(lane.dropOldestInMemory());
            }
        }
    }

    private boolean dropOldestSegment() {
        Optional<List<byte[]>> dropped = telemetry.dropOldest().or(facts::dropOldest);
        dropped.ifPresent(records -> records.forEach(this::note));
        return dropped.isPresent();
    }

    private void note(byte[] dropped) {
        lost++;
        lostSinceDrained = true;
        try {
            losses.add(OutboxEntry.decode(dropped));
        } catch (IllegalArgumentException ofAnotherVersion) {
            // Its number is not known; the reader sees the gap.
        }
    }

    private void tellLosses(String reason, Moment now) {
        if (losses.isEmpty()) {
            return;
        }
        if (!saidLost) {
            saidLost = true;
            LOG.atWarn()
                    .addKeyValue("reason", reason)
                    .log("the outbox drops its oldest events; free the disk or raise GPUFLEET_OUTBOX_BYTES");
        }
        losses.take(bootId, reason)
                .forEach(told ->
                        append(entry(EventType.EVENTS_LOST, told.topic(), "", Codec.toJson(told.message()), now)));
    }

    /** The next record to be sent, facts before telemetry; its entry is empty where this version can not read it. */
    Optional<Outgoing> next() {
        Optional<Outgoing> next = facts.next()
                .map(item -> outgoing(LaneName.FACTS, item))
                .or(() -> telemetry.next().map(item -> outgoing(LaneName.TELEMETRY, item)));
        int unreadable = facts.takeUnreadable() + telemetry.takeUnreadable();
        if (unreadable > 0) {
            lost += unreadable;
            lostSinceDrained = true;
            LOG.atWarn()
                    .addKeyValue("places", unreadable)
                    .log("part of the outbox can not be read and is left out; check the disk of GPUFLEET_STATE_DIR");
        }
        return next;
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

    /** Events that were dropped or could not be read, at least. */
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
        saidLost = false;
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
