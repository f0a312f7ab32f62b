package io.gpufleet.wire;

import java.time.Clock;
import java.util.EnumMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Gives the events of one writer their identities: one epoch, and a sequence from 1 for each topic. Not safe for use by
 * several threads at once.
 */
public final class Stamp {
    private final Codec codec;
    private final Source source;
    private final long epoch;
    private final Clock clock;
    private final Map<Topic, Long> sequences = new EnumMap<>(Topic.class);

    /** A stamp whose epoch was never used by this source before. */
    public Stamp(Codec codec, Source source, long epoch, Clock clock) {
        this.codec = codec;
        this.source = source;
        this.epoch = epoch;
        this.clock = clock;
    }

    /** The record of the next event of its topic. */
    public ProducerRecord<String, byte[]> next(Draft draft) {
        long sequence = sequences.merge(draft.topic(), 1L, Long::sum);
        var envelope = new Envelope(
                new EventId(source.name(), epoch, draft.topic(), sequence),
                source,
                draft.type(),
                draft.subject(),
                draft.key(),
                draft.time(),
                clock.instant(),
                0,
                draft.traceparent());
        return codec.encode(envelope, draft.payload());
    }
}
