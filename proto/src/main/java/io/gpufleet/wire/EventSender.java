package io.gpufleet.wire;

import java.time.Clock;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends single events of a service at once, outside any transaction: what it observed and what operators said. Not for
 * topics that the same instance writes by its fold: their sequences would meet.
 */
public final class EventSender implements AutoCloseable {
    private static final Duration CLOSE = Duration.ofSeconds(5);

    private final KafkaProducer<String, byte[]> producer;
    private final Stamp stamp;

    private EventSender(KafkaProducer<String, byte[]> producer, Stamp stamp) {
        this.producer = producer;
        this.stamp = stamp;
    }

    /** Opens a sender; a broker that does not answer yet is no error. The epoch is the clock's milliseconds now. */
    public static EventSender open(String bootstrap, Codec codec, Source.Service source, Clock clock) {
        var settings = new Properties();
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, source.name() + "-signals");
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        settings.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "5000");
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Integer.toString(4 * 1024 * 1024));
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
        return new EventSender(producer, new Stamp(codec, source, clock.millis(), clock));
    }

    /**
     * Sends; completes when the event is on the log, exceptionally when it was not taken within 2 min. Blocks at most 5 s
     * while the broker is not known yet. Events of one caller keep their order.
     */
    public CompletionStage<Void> send(Draft event) {
        var acknowledged = new CompletableFuture<Void>();
        try {
            synchronized (stamp) {
                ProducerRecord<String, byte[]> rec = stamp.next(event);
                producer.send(rec, (_, failure) -> {
                    if (failure == null) {
                        acknowledged.complete(null);
                    } else {
                        acknowledged.completeExceptionally(failure);
                    }
                });
            }
        } catch (KafkaException notTaken) {
            acknowledged.completeExceptionally(notTaken);
        }
        return acknowledged;
    }

    @Override
    public void close() {
        producer.close(CLOSE);
    }
}
