package io.gpufleet.nodedaemon.kafka.outbox;

import io.gpufleet.nodedaemon.model.device.Moment;
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
 * Events that the broker has not acknowledged. Facts and telemetry have a queue each, since telemetry is dropped first
 * when the outbox is full. Assigns every event its sequence. Not thread-safe, except {@link #force}.
 */
public final class Outbox implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    private final long epoch;
    private final String bootId;
    private final long maxBytes;
    private final OutboxSegmentQueue facts;
    private final OutboxSegmentQueue telemetry;
    private final Map<Topic, Long> sequences = new EnumMap<>(Topic.class);
    private final EventLosses losses = new EventLosses();
    private long lost;
    private boolean lostSinceDrained;
    private boolean lossLogged;

    /** The queue of a record. */
    public enum QueueName {
        FACTS,
        TELEMETRY
    }

    /**
     * A record to send.
     *
     * @param entry empty if this version cannot decode the record
     * @param after position to acknowledge once the record is sent
     */
    public record OutgoingEvent(QueueName queue, Optional<OutboxEntry> entry, QueuePosition after) {}

    public Outbox(OutboxDisk disk, Path directory, String bootId, long maxBytes, long epoch) {
        this.epoch = epoch;
        this.bootId = bootId;
        this.maxBytes = maxBytes;
        long segmentBytes = Math.clamp(maxBytes / 16, 4 * 1024, 4 * 1024 * 1024);
        this.facts = new OutboxSegmentQueue(disk, directory.resolve("facts"), segmentBytes);
        this.telemetry = new OutboxSegmentQueue(disk, directory.resolve("telemetry"), segmentBytes);
    }

    /** Appends an event with the next sequence of its topic. Does not throw when the disk fails. */
    public void add(EventType type, Topic topic, String subject, byte[] json, Moment observed) {
        facts.flush();
        telemetry.flush();
        append(entry(type, topic, subject, json, observed));
        evict();
        reportLosses(
                diskBroken() ? "disk cannot be written and memory is full" : "outbox full (" + maxBytes + " bytes)",
                observed);
    }

    /** Assigns sequences to events that were dropped before they were appended, and reports them as lost. */
    public void recordLost(EventType type, Topic topic, long count, Moment now) {
        long last = sequences.merge(topic, count, Long::sum);
        losses.add(type, topic, epoch, last - count + 1, last);
        lostSinceDrained = true;
        reportLosses("disk hung", now);
    }

    private OutboxEntry entry(EventType type, Topic topic, String subject, byte[] json, Moment observed) {
        long sequence = sequences.merge(topic, 1L, Long::sum);
        return new OutboxEntry(topic, type, subject, epoch, sequence, observed.wall(), observed.nanos(), json);
    }

    private void append(OutboxEntry entry) {
        (entry.topic() == Topic.TELEMETRY ? telemetry : facts).append(entry.encode());
    }

    private void evict() {
        while (bytes() > maxBytes && dropOldestSegment()) {
            // until it fits
        }
        for (OutboxSegmentQueue queue : List.of(telemetry, facts)) {
            // Dropping a segment helps only if the disk is full; with any other disk failure it would be lost as well.
            if (queue.isMemoryFull() && queue.isDiskFull() && dropOldestSegment()) {
                queue.flush();
            }
            while (queue.isMemoryFull()) {
                recordDropped(queue.dropOldestInMemory());
            }
        }
    }

    private boolean dropOldestSegment() {
        Optional<List<byte[]>> dropped = telemetry.dropOldest().or(facts::dropOldest);
        dropped.ifPresent(records -> records.forEach(this::recordDropped));
        return dropped.isPresent();
    }

    private void recordDropped(byte[] dropped) {
        lost++;
        lostSinceDrained = true;
        try {
            losses.add(OutboxEntry.decode(dropped));
        } catch (IllegalArgumentException ofAnotherVersion) {
            // Its sequence is unknown; the consumer sees the gap.
        }
    }

    private void reportLosses(String reason, Moment now) {
        if (losses.isEmpty()) {
            return;
        }
        if (!lossLogged) {
            lossLogged = true;
            LOG.atWarn()
                    .addKeyValue("reason", reason)
                    .log("outbox full, oldest events dropped; free the disk or raise GPUFLEET_OUTBOX_BYTES");
        }
        losses.takeReports(bootId, reason)
                .forEach(report ->
                        append(entry(EventType.EVENTS_LOST, report.topic(), "", Codec.toJson(report.message()), now)));
    }

    /** The next record to send, facts before telemetry. */
    public Optional<OutgoingEvent> next() {
        Optional<OutgoingEvent> next = facts.next()
                .map(item -> outgoing(QueueName.FACTS, item))
                .or(() -> telemetry.next().map(item -> outgoing(QueueName.TELEMETRY, item)));
        int unreadable = facts.takeUnreadable() + telemetry.takeUnreadable();
        if (unreadable > 0) {
            lost += unreadable;
            lostSinceDrained = true;
            LOG.atWarn()
                    .addKeyValue("ranges", unreadable)
                    .log("unreadable outbox records skipped; check the disk of GPUFLEET_STATE_DIR");
        }
        return next;
    }

    private static OutgoingEvent outgoing(QueueName queue, OutboxSegmentQueue.QueuedRecord item) {
        try {
            return new OutgoingEvent(queue, Optional.of(OutboxEntry.decode(item.record())), item.after());
        } catch (IllegalArgumentException ofAnotherVersion) {
            return new OutgoingEvent(queue, Optional.empty(), item.after());
        }
    }

    public void acknowledge(QueueName queue, QueuePosition position) {
        switch (queue) {
            case FACTS -> facts.acknowledge(position);
            case TELEMETRY -> telemetry.acknowledge(position);
        }
    }

    public void rewind() {
        facts.rewind();
        telemetry.rewind();
    }

    public boolean hasUnread() {
        return facts.hasUnread() || telemetry.hasUnread();
    }

    public long bytes() {
        return facts.bytes() + telemetry.bytes();
    }

    /** Number of events that were dropped or could not be read; a lower bound. */
    public long lost() {
        return lost;
    }

    public boolean diskBroken() {
        return facts.diskBroken() || telemetry.diskBroken();
    }

    /** Whether an event was lost since the last call. */
    public boolean takeLost() {
        boolean was = lostSinceDrained;
        lostSinceDrained = false;
        lossLogged = false;
        return was;
    }

    /** Flushes both queues to the disk; thread-safe. */
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
