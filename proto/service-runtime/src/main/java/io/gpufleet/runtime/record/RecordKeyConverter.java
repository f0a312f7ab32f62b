package io.gpufleet.runtime.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Converts records between byte keys, which keep dead letters intact, and text keys. */
public final class RecordKeyConverter {
    private RecordKeyConverter() {}

    /** The same record with its key read as UTF-8; null stays null. */
    public static ConsumerRecord<String, byte[]> withTextKey(ConsumerRecord<byte[], byte[]> rec) {
        return appendedAt(rec, Instant.ofEpochMilli(rec.timestamp()));
    }

    /** The same record with its key read as UTF-8 and another append time. */
    public static ConsumerRecord<String, byte[]> appendedAt(ConsumerRecord<byte[], byte[]> rec, Instant time) {
        String key = rec.key() == null ? null : new String(rec.key(), UTF_8);
        return new ConsumerRecord<>(
                rec.topic(),
                rec.partition(),
                rec.offset(),
                time.toEpochMilli(),
                rec.timestampType(),
                rec.serializedKeySize(),
                rec.serializedValueSize(),
                key,
                rec.value(),
                rec.headers(),
                Optional.empty());
    }

    /** The same record with its key in UTF-8. */
    public static ProducerRecord<byte[], byte[]> withByteKey(ProducerRecord<String, byte[]> rec) {
        return new ProducerRecord<>(rec.topic(), null, rec.key().getBytes(UTF_8), rec.value(), rec.headers());
    }
}
