package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.record.DeadLetters;
import io.gpufleet.runtime.record.InputDecoder.Input;
import io.gpufleet.runtime.record.InputOffsets;
import io.gpufleet.runtime.record.InternalRecords;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.record.ReplayedDeadLetters;
import io.gpufleet.runtime.sequence.DedupeResult;
import io.gpufleet.runtime.sequence.StaleWriters;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes one input record: applied, skipped as unknown, dropped as met before, or sent to the dead letters. */
final class InputReceiver<S> {
    private static final Logger LOG = LoggerFactory.getLogger(InputReceiver.class);

    private final EngineParts<S> parts;
    private final StateStore<S> store;
    private final DeadLetters deadLetters;
    private final StaleWriters staleWriters;
    private final InputOffsets offsets;
    private final ReplayedDeadLetters replayed;

    InputReceiver(EngineParts<S> parts, Changelog<S> changelog, DeadLetters deadLetters, StaleWriters staleWriters) {
        this.parts = parts;
        this.store = changelog.store();
        this.offsets = changelog.offsets();
        this.replayed = changelog.replayed();
        this.deadLetters = deadLetters;
        this.staleWriters = staleWriters;
    }

    /** Applies a record; what cannot be applied changes no state and becomes a dead letter of the batch. */
    void receive(Input input, Instant now, Batch batch) {
        try {
            apply(input, now, batch);
        } catch (RuntimeException poison) {
            bury(input.source(), reason(poison), batch);
        }
    }

    /** Sends a record to the dead letters whose effects could not be written; its sequence counts as applied. */
    void bury(ConsumerRecord<byte[], byte[]> rec, String reason, Batch batch) {
        batch.dead(deadLetters.of(rec, reason));
    }

    /** Marks the event of a record as applied without applying it. */
    void admitOnly(Input input) {
        if (input instanceof Input.Decoded decoded && decoded.content() instanceof DecodedRecord.Event event) {
            store.admit(event);
        }
    }

    static String reason(RuntimeException failed) {
        return failed.getMessage() == null ? failed.toString() : failed.getMessage();
    }

    private void apply(Input input, Instant now, Batch batch) {
        ConsumerRecord<byte[], byte[]> rec = input.source();
        switch (input) {
            case Input.Undecoded _ -> undecoded(rec, topic(rec), now, batch);
            case Input.Decoded decoded -> {
                switch (decoded.content()) {
                    case DecodedRecord.Event event -> event(event, now, batch);
                    case DecodedRecord.UnknownType unknown -> skip(unknown, batch);
                    case DecodedRecord.Tombstone(String key, Instant appendedAt) -> {
                        if (!Changelog.reserved(key)) {
                            unidentified(new Inbound.Tombstone(topic(rec), key, appendedAt), now, batch);
                        }
                    }
                    case DecodedRecord.Poison(String reason) -> bury(rec, reason, batch);
                }
            }
        }
    }

    private Topic topic(ConsumerRecord<byte[], byte[]> rec) {
        return parts.codec().topics().byName(rec.topic()).orElseThrow();
    }

    private void undecoded(ConsumerRecord<byte[], byte[]> rec, Topic topic, Instant now, Batch batch) {
        Optional<DeadLetterOrigin> origin = DeadLetterOrigin.ofReplayed(rec.headers());
        if (origin.isPresent()) {
            replay(rec, topic, origin.get(), now, batch);
            return;
        }
        String key = Codec.requireKey(RecordKeyConverter.withTextKey(rec).key());
        requireForeign(key);
        unidentified(new Inbound.Heartbeat(topic, key, Instant.ofEpochMilli(rec.timestamp())), now, batch);
    }

    /**
     * A dead letter that was written again. Its sequence counts as applied since it was found, so that it has a mark of
     * its own. A heartbeat and a state are of their time and not replayed.
     */
    private void replay(
            ConsumerRecord<byte[], byte[]> rec, Topic topic, DeadLetterOrigin origin, Instant now, Batch batch) {
        if (!origin.topic().equals(rec.topic())) {
            throw new IllegalArgumentException("header dlq.topic is not the topic of this record");
        }
        String mark = ReplayedDeadLetters.key(origin);
        if (!origin.consumer().equals(parts.settings().service())
                || !parts.spec().inputs().contains(topic)
                || topic.compacted()
                || replayed.contains(mark)
                || batch.replayed().containsKey(mark)) {
            batch.count.duplicates.incrementAndGet();
            return;
        }
        switch (parts.codec().decode(RecordKeyConverter.appendedAt(rec, origin.appendedAt()))) {
            case DecodedRecord.Event event -> {
                requireForeign(event.envelope().key());
                var _ = applied(
                        new Inbound.Event(event.envelope(), event.payload(), event.appendedAt(), false), now, batch);
                batch.replayed(mark, now, deadLetters.replayed(rec, origin, now));
            }
            case DecodedRecord.UnknownType _ -> bury(rec, "its type is not in the catalogue", batch);
            case DecodedRecord.Tombstone _ -> bury(rec, "a tombstone is not replayed", batch);
            case DecodedRecord.Poison(String reason) -> bury(rec, reason, batch);
        }
    }

    private static void requireForeign(String key) {
        if (Changelog.reserved(key)) {
            throw new IllegalArgumentException("keys that begin with '@' are reserved");
        }
    }

    private Effects<S> applied(Inbound.Event inbound, Instant now, Batch batch) {
        Effects<S> effects = parts.projection().on(store, inbound, now);
        store.apply(effects);
        batch.ofEvent(inbound.key(), effects);
        batch.causedBy(inbound, effects);
        batch.count.applied.incrementAndGet();
        return effects;
    }

    private void unidentified(Inbound input, Instant now, Batch batch) {
        Effects<S> effects = parts.projection().on(store, input, now);
        store.apply(effects);
        batch.ofUnidentified(effects);
    }

    /** An event of a later release: the same event of this release's types, or a snapshot, tells what it knows. */
    private void skip(DecodedRecord.UnknownType unknown, Batch batch) {
        if (Changelog.reserved(unknown.key())) {
            return;
        }
        offsets.read(unknown.source(), unknown.id());
        DedupeResult admission = store.admit(unknown);
        if (!admission.fresh()) {
            batch.count.duplicates.incrementAndGet();
            return;
        }
        store.writeSequences(unknown.key());
        batch.count.unknownTypes.incrementAndGet();
        batch.count.missed.addAndGet(admission.missed());
        LOG.atDebug()
                .addKeyValue("type", unknown.ceType())
                .addKeyValue("id", unknown.id())
                .log("event of a type that this release does not know is skipped");
    }

    private void event(DecodedRecord.Event event, Instant now, Batch batch) {
        String key = event.envelope().key();
        if (InternalRecords.housekeeping(event)) {
            return;
        }
        requireForeign(key);
        offsets.read(event.envelope().source(), event.envelope().id());
        DedupeResult admission = store.admit(event);
        staleWriters.seen(event.envelope().source(), key, admission.fresh());
        if (!admission.fresh()) {
            batch.count.duplicates.incrementAndGet();
            return;
        }
        batch.count.missed.addAndGet(admission.missed());
        if (admission.newMachine()) {
            batch.count.newMachines.incrementAndGet();
            LOG.atWarn().addKeyValue("node", key).log("another machine has taken over the name of a node");
        }
        var inbound = new Inbound.Event(event.envelope(), event.payload(), event.appendedAt(), admission.newMachine());
        try {
            Effects<S> effects = applied(inbound, now, batch);
            if (effects.isEmpty() && event.envelope().source() instanceof EventSource.Node) {
                store.sequencesAhead(key);
            } else if (!effects.isEmpty() && !effects.states().containsKey(key)) {
                store.writeSequences(key);
            }
            batch.folded(inbound, now);
        } catch (RuntimeException refused) {
            store.writeSequences(key);
            throw refused;
        }
    }
}
