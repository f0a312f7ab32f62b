package io.gpufleet.wire.fold;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Records between bytes, as the clients move them so that dead letters stay whole, and text keys. */
final class Records {
    private Records() {}

    static ConsumerRecord<String, byte[]> readable(ConsumerRecord<byte[], byte[]> rec) {
        String key = rec.key() == null ? null : new String(rec.key(), UTF_8);
        return new ConsumerRecord<>(
                rec.topic(),
                rec.partition(),
                rec.offset(),
                rec.timestamp(),
                rec.timestampType(),
                rec.serializedKeySize(),
                rec.serializedValueSize(),
                key,
                rec.value(),
                rec.headers(),
                Optional.empty());
    }

    static ProducerRecord<byte[], byte[]> writable(ProducerRecord<String, byte[]> rec) {
        return new ProducerRecord<>(rec.topic(), null, rec.key().getBytes(UTF_8), rec.value(), rec.headers());
    }

    /** The record as it was found, for the dead letters, with where and why. */
    static ProducerRecord<byte[], byte[]> deadLetter(
            String topic, ConsumerRecord<byte[], byte[]> found, String reason, String consumer) {
        var letter = new ProducerRecord<>(topic, null, found.key(), found.value(), found.headers());
        letter.headers()
                .add("gf_reason", reason.getBytes(UTF_8))
                .add("gf_topic", found.topic().getBytes(UTF_8))
                .add("gf_partition", Integer.toString(found.partition()).getBytes(UTF_8))
                .add("gf_offset", Long.toString(found.offset()).getBytes(UTF_8))
                .add("gf_consumer", consumer.getBytes(UTF_8));
        return letter;
    }
}
