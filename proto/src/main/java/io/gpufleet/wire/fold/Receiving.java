package io.gpufleet.wire.fold;

import io.gpufleet.wire.Decoded;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What becomes of one record of an input: folded, dropped as met before, or sent to the dead letters. */
final class Receiving {
    private static final Logger LOG = LoggerFactory.getLogger(Receiving.class);

    private final FoldParts parts;
    private final Marks marks;

    Receiving(FoldParts parts, Marks marks) {
        this.parts = parts;
        this.marks = marks;
    }

    void receive(ConsumerRecord<byte[], byte[]> rec, Instant now, Batch batch) {
        try {
            apply(rec, now, batch);
        } catch (RuntimeException poison) {
            bury(rec, poison.getMessage() == null ? poison.toString() : poison.getMessage(), batch);
        }
    }

    private void apply(ConsumerRecord<byte[], byte[]> rec, Instant now, Batch batch) {
        Topics topics = parts.codec().topics();
        Topic topic = topics.byName(rec.topic()).orElseThrow();
        ConsumerRecord<String, byte[]> readable = Records.readable(rec);
        if (parts.folder().undecoded().contains(topic)) {
            if (readable.key() == null || readable.key().isEmpty()) {
                throw new IllegalArgumentException("key is missing or empty");
            }
            batch.ofUnmarked(parts.folder().heard(topic, readable.key(), Instant.ofEpochMilli(rec.timestamp())));
            return;
        }
        switch (parts.codec().decode(readable)) {
            case Decoded.Event event -> fold(event, now, batch);
            case Decoded.Tombstone(String key, Instant appendedAt) ->
                batch.ofUnmarked(parts.folder().foldTombstone(topic, key, appendedAt));
            case Decoded.Poison(String reason) -> bury(rec, reason, batch);
        }
    }

    private void fold(Decoded.Event event, Instant now, Batch batch) {
        if (ActiveTerm.housekeeping(event)) {
            return;
        }
        String key = event.envelope().key();
        if (Changelog.reserved(key)) {
            throw new IllegalArgumentException("keys that begin with '@' are reserved");
        }
        Admission admission = marks.admit(event);
        if (!admission.fresh()) {
            batch.count.duplicates.incrementAndGet();
            return;
        }
        batch.count.missed.addAndGet(admission.missed());
        if (admission.newMachine()) {
            batch.count.newMachines.incrementAndGet();
            LOG.atWarn().addKeyValue("node", key).log("another machine has taken over the name of a node");
        }
        var inbound = new Inbound(event.envelope(), event.payload(), event.appendedAt(), admission.newMachine());
        List<Outbound> caused = parts.folder().fold(inbound, now);
        batch.ofEvent(key, caused);
        batch.count.folded.incrementAndGet();
    }

    private void bury(ConsumerRecord<byte[], byte[]> rec, String reason, Batch batch) {
        batch.count.poisoned.incrementAndGet();
        LOG.atWarn()
                .addKeyValue("topic", rec.topic())
                .addKeyValue("partition", rec.partition())
                .addKeyValue("offset", rec.offset())
                .addKeyValue("reason", reason)
                .log("record goes to the dead letters");
        batch.dead(Records.deadLetter(
                parts.codec().topics().name(Topic.DEADLETTER),
                rec,
                reason,
                parts.settings().service()));
    }
}
