package io.gpufleet.wire.projection;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Converts records between byte keys, which keep dead letters intact, and text keys. */
final class RecordConverter {
    private RecordConverter() {}

    static ConsumerRecord<String, byte[]> withTextKey(ConsumerRecord<byte[], byte[]> rec) {
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

    static ProducerRecord<byte[], byte[]> withByteKey(ProducerRecord<String, byte[]> rec) {
        return new ProducerRecord<>(rec.topic(), null, rec.key().getBytes(UTF_8), rec.value(), rec.headers());
    }

    /**
     * Creates the dead letter of a record: key, value and headers as found, and these headers, all UTF-8 text:
     *
     * <pre>{@code
     * dlq.reason     error message, one line
     * dlq.topic      full name of the topic where the record was found
     * dlq.partition  partition, decimal
     * dlq.offset     offset, decimal
     * dlq.timestamp  append time of the record found, Unix milliseconds, decimal
     * dlq.consumer   name of the service
     * }</pre>
     */
    static ProducerRecord<byte[], byte[]> deadLetter(
            String topic, ConsumerRecord<byte[], byte[]> found, String reason, String consumer) {
        var letter = new ProducerRecord<>(topic, null, found.key(), found.value(), found.headers());
        letter.headers()
                .add("dlq.reason", reason.getBytes(UTF_8))
                .add("dlq.topic", found.topic().getBytes(UTF_8))
                .add("dlq.partition", Integer.toString(found.partition()).getBytes(UTF_8))
                .add("dlq.offset", Long.toString(found.offset()).getBytes(UTF_8))
                .add("dlq.timestamp", Long.toString(found.timestamp()).getBytes(UTF_8))
                .add("dlq.consumer", consumer.getBytes(UTF_8));
        return letter;
    }
}
