package io.gpufleet.cli.bus;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.wire.DeadLetterOrigin;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * A record that a service could not read or apply.
 *
 * @param origin where it was found, and by which service
 * @param rec the record of the dead letters
 */
public record DeadLetter(DeadLetterOrigin origin, ConsumerRecord<byte[], byte[]> rec) {
    /** Returns the key as text. */
    public String key() {
        return rec.key() == null ? "" : new String(rec.key(), UTF_8);
    }

    /** Returns a header as text; empty where it is missing. */
    public String header(String name) {
        return header(rec, name).orElse("");
    }

    /** A header of a record as text. */
    static Optional<String> header(ConsumerRecord<byte[], byte[]> rec, String name) {
        Header header = rec.headers().lastHeader(name);
        return header == null || header.value() == null
                ? Optional.empty()
                : Optional.of(new String(header.value(), UTF_8));
    }

    @Override
    public String toString() {
        return origin.topic() + "/" + origin.partition() + "/" + origin.offset() + "  " + origin.consumer() + "  "
                + key() + "  " + header("ce_type");
    }
}
