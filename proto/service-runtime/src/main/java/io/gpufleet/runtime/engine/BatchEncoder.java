package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.record.RecordConverter;
import io.gpufleet.runtime.record.RecordSize;
import io.gpufleet.runtime.sequence.AppliedField;
import io.gpufleet.runtime.sequence.KeySequences;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSequencer;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Turns what a batch causes into records before a transaction begins, and measures each. */
final class BatchEncoder<S> {
    private static final byte[] NOTHING = {};
    /** Fewer are printed before another thread has begun. */
    private static final int PARALLEL = 64;

    private final EngineParts<S> parts;
    private final EventSequencer sequencer;
    private final AppliedField applied;
    private final byte[] version;

    BatchEncoder(EngineParts<S> parts, EventSequencer sequencer) {
        this.parts = parts;
        this.sequencer = sequencer;
        this.applied = new AppliedField(parts.spec().stateType().prototype());
        this.version = Integer.toString(parts.spec().schemaVersion()).getBytes(UTF_8);
    }

    /** A record of a batch; a state has its schema version beside it. */
    private record Pending(Outbound output, boolean state) {
        private byte[] payload() {
            return switch (output) {
                case Outbound.Event event -> Codec.toJson(event.payload());
                case Outbound.Tombstone _ -> NOTHING;
            };
        }
    }

    /** The records of a batch, changelog last; an exception leaves the sequencer as it was. */
    List<ProducerRecord<byte[], byte[]>> encode(Batch batch, StateStore<S> store, Instant now) {
        Topic changelog = parts.spec().changelog();
        List<Pending> pending = new ArrayList<>();
        batch.outputs().forEach(output -> pending.add(new Pending(declared(output), false)));
        store.forgotten().forEach(key -> pending.add(new Pending(new Outbound.Tombstone(changelog, key), false)));
        store.changed()
                .forEach((key, state) ->
                        pending.add(new Pending(event(key, state, store.sequences(key), now, batch.trace(key)), true)));
        EventSequencer.Position before = sequencer.position();
        try {
            List<ProducerRecord<byte[], byte[]>> records = encode(pending);
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

    /** In their order; the payloads of many are printed on every core. */
    private List<ProducerRecord<byte[], byte[]>> encode(List<Pending> pending) {
        Stream<Pending> stream = pending.size() < PARALLEL ? pending.stream() : pending.parallelStream();
        List<byte[]> payloads = stream.map(Pending::payload).toList();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(pending.size());
        for (int i = 0; i < pending.size(); i++) {
            records.add(encode(pending.get(i), payloads.get(i)));
        }
        return records;
    }

    private ProducerRecord<byte[], byte[]> encode(Pending pending, byte[] payload) {
        return switch (pending.output()) {
            case Outbound.Event event -> {
                var rec = RecordConverter.withByteKey(sequencer.next(event, payload));
                if (pending.state()) {
                    rec.headers().add(Changelog.VERSION_HEADER, version);
                }
                yield measured(rec, event.topic());
            }
            case Outbound.Tombstone(Topic topic, String key) -> tombstone(topic, key);
        };
    }

    private Outbound.Event event(String key, S state, Optional<KeySequences> sequences, Instant now, String trace) {
        ProjectionSpec spec = parts.spec();
        Message message = parts.projection().write(key, state);
        Message whole = sequences.map(known -> applied.with(message, known)).orElse(message);
        return new Outbound.Event(spec.changelog(), spec.stateType(), key, whole, "", now, trace);
    }

    private Outbound declared(Outbound output) {
        if (!parts.spec().outputs().contains(output.topic())) {
            throw new IllegalArgumentException(
                    "topic " + output.topic() + " is not declared as an output of this projection");
        }
        return output;
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
                    + new String(rec.key() == null ? NOTHING : rec.key(), UTF_8)
                    + "' is larger than its max.message.bytes of "
                    + topic.maxMessageBytes());
        }
        return rec;
    }
}
