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
        long sequence = sequences.merge(draft.topic(), 1L, Long::sum);
        var envelope = new Envelope(
                new EventId(source.name(), epoch, draft.topic(), sequence),
                source,
                draft.type(),
                draft.subject(),
                draft.key(),
                new EventTime(draft.time(), clock.instant(), 0),
                draft.traceparent());
        return codec.encode(envelope, draft.payload());
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
