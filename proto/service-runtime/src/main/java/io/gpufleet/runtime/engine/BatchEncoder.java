package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.record.RecordConverter;
import io.gpufleet.runtime.record.RecordSize;
import io.gpufleet.runtime.sequence.AppliedField;
import io.gpufleet.runtime.sequence.KeySequences;
import io.gpufleet.wire.EventSequencer;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Turns what a batch causes into records before a transaction begins, and measures each. */
final class BatchEncoder<S> {
    private static final byte[] NO_KEY = {};

    private final EngineParts<S> parts;
    private final EventSequencer sequencer;
    private final AppliedField applied;

    BatchEncoder(EngineParts<S> parts, EventSequencer sequencer) {
        this.parts = parts;
        this.sequencer = sequencer;
        this.applied = new AppliedField(parts.spec().stateType().prototype());
    }

    /** The records of a batch, changelog last; an exception leaves the sequencer as it was. */
    List<ProducerRecord<byte[], byte[]>> encode(Batch batch, StateStore<S> store, Instant now) {
        EventSequencer.Position before = sequencer.position();
        try {
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            batch.outputs().forEach(output -> records.add(output(output)));
            store.forgotten().forEach(key -> records.add(tombstone(parts.spec().changelog(), key)));
            store.changed()
                    .forEach((key, state) ->
                            records.add(state(key, state, store.sequences(key), now, batch.trace(key))));
            batch.replayed()
                    .forEach((key, at) ->
                            records.add(own(EventType.DEADLETTER_REPLAYED, key, ReplayedRecords.toMessage(at), now)));
            records.addAll(batch.deadLetters());
            return records;
        } catch (RuntimeException unwritable) {
            sequencer.rewind(before);
            throw unwritable;
        }
    }

    private ProducerRecord<byte[], byte[]> state(
            String key, S state, Optional<KeySequences> sequences, Instant now, String trace) {
        ProjectionSpec spec = parts.spec();
        Message message = parts.projection().write(key, state);
        Message whole = sequences.map(known -> applied.with(message, known)).orElse(message);
        var draft = new Outbound.Event(spec.changelog(), spec.stateType(), key, whole, "", now, trace);
        ProducerRecord<byte[], byte[]> rec = RecordConverter.withByteKey(sequencer.next(draft));
        rec.headers()
                .add(
                        Changelog.VERSION_HEADER,
                        Integer.toString(spec.schemaVersion()).getBytes(UTF_8));
        return measured(rec, spec.changelog());
    }

    private ProducerRecord<byte[], byte[]> output(Outbound output) {
        if (!parts.spec().outputs().contains(output.topic())) {
            throw new IllegalArgumentException(
                    "topic " + output.topic() + " is not declared as an output of this projection");
        }
        return switch (output) {
            case Outbound.Event event -> measured(RecordConverter.withByteKey(sequencer.next(event)), event.topic());
            case Outbound.Tombstone(Topic topic, String key) -> tombstone(topic, key);
        };
    }

    /** A record of the engine itself, on the changelog. */
    ProducerRecord<byte[], byte[]> own(EventType type, String key, Message payload, Instant now) {
        return RecordConverter.withByteKey(
                sequencer.next(Outbound.Event.of(parts.spec().changelog(), type, key, payload, now)));
    }

    /** Gives up a record of the engine itself. */
    ProducerRecord<byte[], byte[]> forgetOwn(String key) {
        return tombstone(parts.spec().changelog(), key);
    }

    private ProducerRecord<byte[], byte[]> tombstone(Topic topic, String key) {
        return RecordConverter.withByteKey(parts.codec().tombstone(topic, key));
    }

    private static ProducerRecord<byte[], byte[]> measured(ProducerRecord<byte[], byte[]> rec, Topic topic) {
        int size = RecordSize.of(rec.key(), rec.value(), rec.headers());
        if (size > topic.maxMessageBytes()) {
            throw new IllegalArgumentException("a record of " + size + " bytes for topic " + rec.topic() + " key '"
                    + new String(rec.key() == null ? NO_KEY : rec.key(), UTF_8)
                    + "' is larger than its max.message.bytes of "
                    + topic.maxMessageBytes());
        }
        return rec;
    }
}
