package io.gpufleet.bench.projection;

import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/** Sends many records of a benchmark; one that Kafka refuses ends the measurement. */
public final class RecordSender implements AutoCloseable {
    private final Producer<String, byte[]> producer;
    /** The first that Kafka refused. */
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    /** Sends to a broker, with a compression of Kafka: none or gzip, for example. */
    public RecordSender(String bootstrap, String compression) {
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("compression.type", compression);
        config.put("linger.ms", "20");
        config.put("batch.size", "262144");
        // A broker takes any first sequence number on a partition made a moment ago, so that a second batch in flight
        // can overtake the first, which then expires as out of order.
        config.put("max.in.flight.requests.per.connection", "1");
        this.producer = new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer());
    }

    /** Sends a record, at the latest by {@link #flush}. */
    public void send(ProducerRecord<String, byte[]> event) {
        producer.send(event, this::sent);
    }

    private void sent(@Nullable RecordMetadata appended, @Nullable Exception refused) {
        if (refused != null) {
            failure.compareAndSet(null, refused);
        }
    }

    /** Sends what waits, and waits for the broker; throws {@link IllegalStateException} for a record that it refused. */
    public void flush() {
        producer.flush();
        Exception refused = failure.get();
        if (refused != null) {
            throw new IllegalStateException("Kafka did not take an event of the benchmark: " + refused, refused);
        }
    }

    @Override
    public void close() {
        producer.close();
    }
}
