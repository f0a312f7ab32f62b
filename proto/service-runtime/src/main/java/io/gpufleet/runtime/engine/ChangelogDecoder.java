package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.runtime.record.ManyRecords;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.sequence.AppliedSequencesField;
import io.gpufleet.runtime.sequence.KeySequences;
import io.gpufleet.wire.DecodedRecord;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * Decodes the records of a changelog; those of a large batch on every core, since decoding depends on nothing else.
 */
final class ChangelogDecoder<S> {
    private final EngineParts<S> parts;
    private final AppliedSequencesField applied;

    /** Content of a record. */
    sealed interface Entry<S> {
        /** The state of a key, with the sequences that it contains. */
        record State<S>(String key, long incarnation, S state, Optional<KeySequences> applied) implements Entry<S> {}

        /** A record of the engine itself. */
        record Own<S>(String key, long incarnation, Message payload) implements Entry<S> {}

        /** A key was given up. */
        record GivenUp<S>(String key) implements Entry<S> {}

        /** A record that cannot be read, and why. */
        record Unreadable<S>(String line) implements Entry<S> {}
    }

    ChangelogDecoder(EngineParts<S> parts) {
        this.parts = parts;
        this.applied = new AppliedSequencesField(parts.spec().stateType().prototype());
    }

    /** The entry of each record, in their order. */
    List<Entry<S>> decode(Collection<ConsumerRecord<byte[], byte[]>> records) {
        return ManyRecords.stream(records).map(this::decode).toList();
    }

    private static String key(ConsumerRecord<byte[], byte[]> rec) {
        return rec.key() == null ? "" : new String(rec.key(), UTF_8);
    }

    private Entry<S> decode(ConsumerRecord<byte[], byte[]> rec) {
        try {
            int version = version(rec);
            return entry(parts.codec().decodeState(RecordKeyConverter.withTextKey(rec)), version);
        } catch (RuntimeException unreadable) {
            return new Entry.Unreadable<>("own changelog " + rec.topic() + " partition " + rec.partition() + " offset "
                    + rec.offset() + " key '" + key(rec) + "' cannot be read (" + unreadable.getMessage()
                    + "): run a version that reads it, or write a record of the same key over it");
        }
    }

    /** Schema version of a state; the first one where the record does not say. */
    private int version(ConsumerRecord<byte[], byte[]> rec) {
        Header header = rec.headers().lastHeader(Changelog.VERSION_HEADER);
        int version = header == null ? 1 : Integer.parseInt(new String(header.value(), UTF_8));
        if (version > parts.spec().schemaVersion()) {
            throw new IllegalArgumentException("it has schema version " + version + ", this program reads up to "
                    + parts.spec().schemaVersion());
        }
        return version;
    }

    private Entry<S> entry(DecodedRecord decoded, int version) {
        return switch (decoded) {
            case DecodedRecord.Event event
            when event.envelope().type() == parts.spec().stateType() -> state(event, version);
            case DecodedRecord.Event event ->
                new Entry.Own<>(event.envelope().key(), event.envelope().id().epoch(), event.payload());
            case DecodedRecord.Tombstone given -> new Entry.GivenUp<>(given.key());
            case DecodedRecord.UnknownType unknown ->
                throw new IllegalArgumentException("ce_type '" + unknown.ceType() + "' is not in the catalogue");
            case DecodedRecord.Poison(String reason) -> throw new IllegalArgumentException(reason);
        };
    }

    private Entry<S> state(DecodedRecord.Event event, int version) {
        String key = event.envelope().key();
        Message payload = event.payload();
        Message present =
                version < parts.spec().schemaVersion() ? parts.projection().migrate(payload, version) : payload;
        return new Entry.State<>(
                key, event.envelope().id().epoch(), parts.projection().read(key, present), applied.of(payload));
    }
}
