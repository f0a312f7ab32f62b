package io.gpufleet.wire;

import java.time.Clock;
import java.util.EnumMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Assigns event ids of one writer: one epoch, and a sequence from 1 for each topic. Not thread-safe. */
public final class EventSequencer {
    private final Codec codec;
    private final EventSource source;
    private final long epoch;
    private final Clock clock;
    private final Map<Topic, Long> sequences = new EnumMap<>(Topic.class);

    /** Creates a sequencer. The epoch must not have been used by this source before. */
    public EventSequencer(Codec codec, EventSource source, long epoch, Clock clock) {
        this.codec = codec;
        this.source = source;
        this.epoch = epoch;
        this.clock = clock;
    }

    /** Encodes an event with the next id of its topic. */
    public ProducerRecord<String, byte[]> next(EventDraft draft) {
        return next(draft, Codec.toValue(draft.type(), draft.payload()));
    }

    /** Encodes an event with the next id of its topic, whose payload is encoded already. */
    public ProducerRecord<String, byte[]> next(EventDraft draft, byte[] value) {
        return encode(nextId(draft), draft, value, draft.traceparent());
    }

    /** Encodes a fact from outside the bus with the next id of its topic; it begins a trace, unless it carries one. */
    public ProducerRecord<String, byte[]> nextFact(EventDraft draft) {
        byte[] value = Codec.toValue(draft.type(), draft.payload());
        EventId id = nextId(draft);
        return encode(id, draft, value, draft.traceparent().isEmpty() ? TraceParent.of(id) : draft.traceparent());
    }

    private EventId nextId(EventDraft draft) {
        return new EventId(source.name(), epoch, draft.topic(), sequences.merge(draft.topic(), 1L, Long::sum));
    }

    private ProducerRecord<String, byte[]> encode(EventId id, EventDraft draft, byte[] value, String traceparent) {
        var envelope = new Envelope(
                id,
                source,
                draft.type(),
                draft.subject(),
                draft.key(),
                new EventTime(draft.time(), clock.instant(), 0),
                traceparent);
        return codec.encode(envelope, value);
    }

    /** Sequences given out so far, for {@link #rewind}. */
    public Position position() {
        return new Position(Map.copyOf(sequences));
    }

    /** Takes back every sequence given out since; only for records that were not sent. */
    public void rewind(Position to) {
        sequences.clear();
        sequences.putAll(to.sequences());
    }

    /** Newest sequence of each topic. */
    public record Position(Map<Topic, Long> sequences) {}
}
