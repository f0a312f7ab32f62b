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
 * Sends single events of a service at once, outside any transaction: observations and operators' commands. Must not be
 * used for topics to which the projection of the same instance writes, since both number their events from 1.
 */
public final class EventSender implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final KafkaProducer<String, byte[]> producer;
    private final EventSequencer sequencer;

    private EventSender(KafkaProducer<String, byte[]> producer, EventSequencer sequencer) {
        this.producer = producer;
        this.sequencer = sequencer;
    }

    /** Opens a sender with the current time as epoch. The broker need not be reachable yet. */
    public static EventSender open(String bootstrap, Codec codec, EventSource.Service source, Clock clock) {
        var settings = new Properties();
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, source.name() + "-signals");
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        settings.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "5000");
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Integer.toString(4 * 1024 * 1024));
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
        return new EventSender(producer, new EventSequencer(codec, source, clock.millis(), clock));
    }

    /**
     * Sends an event. The result completes when the event is on the log, and exceptionally when the broker has not
     * accepted it within 2 min. Blocks for at most 5 s while the broker is unreachable. Events of one caller keep their
     * order.
     */
    public CompletionStage<Void> send(EventDraft event) {
        var acknowledged = new CompletableFuture<Void>();
        try {
            synchronized (sequencer) {
                ProducerRecord<String, byte[]> rec = sequencer.next(event);
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
        producer.close(CLOSE_TIMEOUT);
    }
}
