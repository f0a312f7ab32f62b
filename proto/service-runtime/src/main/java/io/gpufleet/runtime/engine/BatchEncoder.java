package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.record.EncodedOnce;
import io.gpufleet.runtime.record.ManyRecords;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.record.RecordSize;
import io.gpufleet.runtime.record.ReplayedDeadLetters;
import io.gpufleet.runtime.record.StateEncoder;
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
    private static final byte[] NOTHING = {};
    /** Enough for every core. */
    private static final int ENCODED_AT_ONCE = 256;

    private final EngineParts<S> parts;
    private final EventSequencer sequencer;
    private final StateEncoder<S> states;
    private final byte[] version;

    BatchEncoder(EngineParts<S> parts, EventSequencer sequencer) {
        this.parts = parts;
        this.sequencer = sequencer;
        this.states = new StateEncoder<>(parts.projection());
        this.version = Integer.toString(parts.spec().schemaVersion()).getBytes(UTF_8);
    }

    /** A record of a batch that is not encoded yet. */
    private sealed interface Pending {
        /** A record that the projection publishes, or a tombstone of the changelog. */
        record Output(Outbound output) implements Pending {}

        /** A state, written on any thread. */
        record State<S>(String key, S state, boolean again, Optional<KeySequences> sequences, String trace)
                implements Pending {}
    }

    /** A record of a batch and its value; a state has its schema version beside it. */
    private record Encoded(Outbound output, byte[] value, boolean state) {
        private static Encoded of(Outbound output, EncodedOnce values) {
            return switch (output) {
                case Outbound.Event event -> new Encoded(event, values.value(event.type(), event.payload()), false);
                case Outbound.Tombstone tombstone -> new Encoded(tombstone, NOTHING, false);
            };
        }
    }

    /** The records of a batch, changelog last; an exception leaves the sequencer as it was. */
    List<ProducerRecord<byte[], byte[]>> encode(Batch batch, StateStore<S> store, Instant now) {
        Topic changelog = parts.spec().changelog();
        if (batch.needsOffsets()) {
            store.writeSequencesAhead();
        }
        List<Pending> pending = new ArrayList<>();
        var values = new EncodedOnce(parts.spec().stateType());
        batch.outputs().forEach(output -> {
            if (output instanceof Outbound.Event event) {
                values.announce(event.type(), event.payload());
            }
            pending.add(new Pending.Output(declared(output)));
        });
        store.forgotten().forEach(key -> {
            states.forget(key);
            pending.add(new Pending.Output(new Outbound.Tombstone(changelog, key)));
        });
        store.toWrite()
                .forEach((key, state) -> pending.add(new Pending.State<>(
                        key, state, !store.isChanged(key), store.sequences(key), batch.trace(key))));
        EventSequencer.Position before = sequencer.position();
        try {
            List<ProducerRecord<byte[], byte[]>> records = encode(pending, values, now);
            batch.replayed()
                    .forEach((key, at) -> records.add(measured(
                            own(EventType.DEADLETTER_REPLAYED, key, ReplayedDeadLetters.toMessage(at), now),
                            changelog)));
            records.addAll(batch.deadLetters());
            return records;
        } catch (RuntimeException unwritable) {
            sequencer.rewind(before);
            throw unwritable;
        }
    }

    /** In their order and part by part, since the messages of a whole batch outlive collections. */
    private List<ProducerRecord<byte[], byte[]>> encode(List<Pending> pending, EncodedOnce values, Instant now) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(pending.size() + 2);
        for (int from = 0; from < pending.size(); from += ENCODED_AT_ONCE) {
            List<Pending> part = pending.subList(from, Math.min(pending.size(), from + ENCODED_AT_ONCE));
            ManyRecords.stream(part)
                    .map(each -> value(each, values, now))
                    .toList()
                    .forEach(each -> records.add(record(each)));
        }
        return records;
    }

    @SuppressWarnings("unchecked")
    private Encoded value(Pending pending, EncodedOnce values, Instant now) {
        return switch (pending) {
            case Pending.Output(Outbound output) -> Encoded.of(output, values);
            case Pending.State<?> state -> value((Pending.State<S>) state, values, now);
        };
    }

    private ProducerRecord<byte[], byte[]> record(Encoded encoded) {
        return switch (encoded.output()) {
            case Outbound.Event event -> {
                var rec = RecordKeyConverter.withByteKey(sequencer.next(event, encoded.value()));
                if (encoded.state()) {
                    rec.headers().add(Changelog.VERSION_HEADER, version);
                }
                yield measured(rec, event.topic());
            }
            case Outbound.Tombstone(Topic topic, String key) -> tombstone(topic, key);
        };
    }

    private Encoded value(Pending.State<S> written, EncodedOnce values, Instant now) {
        ProjectionSpec spec = parts.spec();
        byte[] value = states.encode(written.key(), written.state(), written.sequences(), written.again(), values);
        // Of a value that is encoded nobody asks for the message.
        Message none = spec.stateType().prototype();
        return new Encoded(
                new Outbound.Event(spec.changelog(), spec.stateType(), written.key(), none, "", now, written.trace()),
                value,
                true);
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
        return RecordKeyConverter.withByteKey(
                sequencer.next(Outbound.Event.of(parts.spec().changelog(), type, key, payload, now)));
    }

    /** Gives up a record of the engine itself. */
    ProducerRecord<byte[], byte[]> forgetOwn(String key) {
        return tombstone(parts.spec().changelog(), key);
    }

    private ProducerRecord<byte[], byte[]> tombstone(Topic topic, String key) {
        return RecordKeyConverter.withByteKey(parts.codec().tombstone(topic, key));
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
