package io.gpufleet.runtime.record;

import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Decodes the records of a polled batch; those of a large one on every core, since decoding depends on nothing else. */
public final class InputDecoder {
    private final Codec codec;
    private final Set<String> heartbeats;

    /** An input record and what it is. */
    public sealed interface Input {
        /** The record as it was read. */
        ConsumerRecord<byte[], byte[]> source();

        /** A record of a topic of which only key and append time are read, or a dead letter that was written again. */
        record Undecoded(ConsumerRecord<byte[], byte[]> source) implements Input {}

        /** Every other record. */
        record Decoded(ConsumerRecord<byte[], byte[]> source, DecodedRecord content) implements Input {}
    }

    /** Leaves the records of some topics undecoded. */
    public InputDecoder(Codec codec, Set<Topic> heartbeats) {
        this.codec = codec;
        this.heartbeats = heartbeats.stream().map(codec.topics()::name).collect(Collectors.toUnmodifiableSet());
    }

    /** The records in their order. */
    public List<Input> decode(List<ConsumerRecord<byte[], byte[]>> records) {
        return ManyRecords.stream(records).map(this::decode).toList();
    }

    private Input decode(ConsumerRecord<byte[], byte[]> rec) {
        boolean replayed = rec.headers().lastHeader(DeadLetterOrigin.REPLAYED) != null;
        return replayed || heartbeats.contains(rec.topic())
                ? new Input.Undecoded(rec)
                : new Input.Decoded(rec, codec.decode(RecordKeyConverter.withTextKey(rec)));
    }
}
