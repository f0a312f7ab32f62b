package io.gpufleet.cli.bus;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topics;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** Decodes records for a person, who need not know the name of the cluster: each is read as one of the cluster of its source. */
public final class EventDecoder {
    private static final String SOURCE = "ce_source";

    private Codec codec;

    /** A decoder of topics whose names are those of a prefix. */
    public EventDecoder(Topics topics) {
        codec = new Codec("", topics);
    }

    /** Decodes a record; never throws. */
    public DecodedRecord decode(ConsumerRecord<String, byte[]> rec) {
        String cluster = cluster(rec.headers().lastHeader(SOURCE));
        if (!codec.cluster().equals(cluster)) {
            codec = new Codec(cluster, codec.topics());
        }
        return codec.decode(rec);
    }

    /** Empty where the codec refuses the source, too. */
    private static String cluster(@Nullable Header source) {
        try {
            return source == null || source.value() == null
                    ? ""
                    : EventSource.parse(new String(source.value(), UTF_8)).cluster();
        } catch (IllegalArgumentException refused) {
            return "";
        }
    }
}
