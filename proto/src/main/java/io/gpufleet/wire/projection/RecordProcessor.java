package io.gpufleet.wire.projection;

import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Processes one record of an input: applies it, drops it as a duplicate, or sends it to the dead-letter topic. */
final class RecordProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(RecordProcessor.class);

    private final ProjectionContext context;
    private final AppliedSequencesByKey sequences;

    RecordProcessor(ProjectionContext context, AppliedSequencesByKey sequences) {
        this.context = context;
        this.sequences = sequences;
    }

    void process(ConsumerRecord<byte[], byte[]> rec, Instant now, Batch batch) {
        try {
            apply(rec, now, batch);
        } catch (RuntimeException poison) {
            sendToDeadLetterTopic(rec, poison.getMessage() == null ? poison.toString() : poison.getMessage(), batch);
        }
    }

    private void apply(ConsumerRecord<byte[], byte[]> rec, Instant now, Batch batch) {
        Topics topics = context.codec().topics();
        Topic topic = topics.byName(rec.topic()).orElseThrow();
        ConsumerRecord<String, byte[]> readable = RecordConverter.withTextKey(rec);
        if (context.projection().heartbeatTopics().contains(topic)) {
            if (readable.key() == null || readable.key().isEmpty()) {
                throw new IllegalArgumentException("key is missing or empty");
            }
            batch.addUnsequenced(
                    context.projection().heartbeat(topic, readable.key(), Instant.ofEpochMilli(rec.timestamp())));
            return;
        }
        switch (context.codec().decode(readable)) {
            case DecodedRecord.Event event -> fold(event, now, batch);
            case DecodedRecord.Tombstone(String key, Instant appendedAt) ->
                batch.addUnsequenced(context.projection().foldTombstone(topic, key, appendedAt));
            case DecodedRecord.Poison(String reason) -> sendToDeadLetterTopic(rec, reason, batch);
        }
    }

    private void fold(DecodedRecord.Event event, Instant now, Batch batch) {
        if (ActiveTerm.isEngineRecord(event)) {
            return;
        }
        String key = event.envelope().key();
        if (Changelog.isReserved(key)) {
            throw new IllegalArgumentException("keys that begin with '@' are reserved");
        }
        DedupeResult result = sequences.deduplicate(event);
        if (!result.fresh()) {
            batch.counters.duplicates.incrementAndGet();
            return;
        }
        batch.counters.missed.addAndGet(result.missed());
        if (result.newMachine()) {
            batch.counters.newMachines.incrementAndGet();
            LOG.atWarn().addKeyValue("node", key).log("node name reused by another machine");
        }
        var inbound = new Inbound(event.envelope(), event.payload(), event.appendedAt(), result.newMachine());
        List<Outbound> caused = context.projection().fold(inbound, now);
        batch.addFromEvent(key, caused);
        batch.counters.folded.incrementAndGet();
    }

    private void sendToDeadLetterTopic(ConsumerRecord<byte[], byte[]> rec, String reason, Batch batch) {
        batch.counters.poisoned.incrementAndGet();
        LOG.atWarn()
                .addKeyValue("topic", rec.topic())
                .addKeyValue("partition", rec.partition())
                .addKeyValue("offset", rec.offset())
                .addKeyValue("reason", reason)
                .log("record sent to the dead-letter topic");
        batch.addDeadLetter(RecordConverter.deadLetter(
                context.codec().topics().name(Topic.DEADLETTER),
                rec,
                reason,
                context.settings().service()));
    }
}
