package io.gpufleet.testbed.testkit;

import com.google.protobuf.Message;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The events of one incarnation of one writer: a sequence for each topic. */
public final class EventProducer implements AutoCloseable {
    private final Codec codec;
    private final EventSource source;
    private final long epoch;
    private final KafkaProducer<String, byte[]> producer;
    private final Map<Topic, Long> sequences = new EnumMap<>(Topic.class);

    /** Writes as this source, from its first sequence on. */
    public EventProducer(String bootstrapServers, Codec codec, EventSource source, long epoch) {
        this.codec = codec;
        this.source = source;
        this.epoch = epoch;
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrapServers, "acks", "all"),
                new StringSerializer(),
                new ByteArraySerializer());
    }

    /** A record with the next sequence of its topic. */
    public ProducerRecord<String, byte[]> record(
            Topic topic, EventType type, String key, Message payload, Instant occurredAt) {
        Instant now = Instant.now();
        return codec.encode(
                new Envelope(
                        new EventId(source.name(), epoch, topic, sequences.merge(topic, 1L, Long::sum)),
                        source,
                        type,
                        "",
                        key,
                        new EventTime(
                                occurredAt,
                                now,
                                Math.max(0, Duration.between(occurredAt, now).toMillis())),
                        ""),
                payload);
    }

    /** Returns when the broker has the record. */
    public void send(ProducerRecord<String, byte[]> record) {
        try {
            producer.send(record).get();
        } catch (ExecutionException failed) {
            throw new IllegalStateException("the broker refused the record", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    public void close() {
        producer.close();
    }
}
