package io.gpufleet.runtime.sender;

import io.gpufleet.proto.bus.v1.WriterIncarnation;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventDraft;
import io.gpufleet.wire.EventSequencer;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends single events of a service at once, outside any transaction: what it observed and what operators commanded. Each
 * begins a trace, which the engine carries on to what the event causes. Not
 * for topics that the same instance writes by its projection: their sequences would meet.
 */
public final class EventSender implements AutoCloseable {
    /** After the 5 s of a projection less than the 10 s in which a program ends. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(4);

    private static final String WRITER_KEY = "@writer/";

    private final KafkaClients kafka;
    private final Properties settings;
    private final Codec codec;
    private final EventSource.Service source;
    private final Topic changelog;
    private final CompletableFuture<Long> incarnation;
    private final Clock clock;
    private @Nullable EventSequencer sequencer;
    /** Made for the first event: none can be made while no name of the broker is resolved. */
    private @Nullable KafkaProducer<String, byte[]> producer;

    private long setBacks;
    private volatile boolean failed;

    private EventSender(
            KafkaClients kafka,
            Codec codec,
            EventSource.Service source,
            Topic changelog,
            CompletableFuture<Long> incarnation,
            Clock clock) {
        this.kafka = kafka;
        this.settings = settings(kafka, source);
        this.setBacks = kafka.clockSetBacks();
        this.codec = codec;
        this.source = source;
        this.changelog = changelog;
        this.incarnation = incarnation;
        this.clock = clock;
    }

    /**
     * Opens a sender; a broker that does not answer yet, or whose name is not resolved yet, is no error.
     *
     * @param changelog the service's changelog, which remembers the incarnation
     * @param incarnation larger than any before; nothing is sent until it is known
     */
    public static EventSender open(
            KafkaClients kafka,
            Codec codec,
            EventSource.Service source,
            Topic changelog,
            CompletableFuture<Long> incarnation,
            Clock clock) {
        return new EventSender(kafka, codec, source, changelog, incarnation, clock);
    }

    private static Properties settings(KafkaClients kafka, EventSource.Service source) {
        Properties settings = kafka.properties(source.name() + "-signals");
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        // A broker that starts may refuse one request and take the next: the earlier events would count as overtaken.
        settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        settings.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "5000");
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Integer.toString(4 * 1024 * 1024));
        return settings;
    }

    private KafkaProducer<String, byte[]> producer() {
        KafkaProducer<String, byte[]> known = producer;
        if (known == null) {
            known = kafka.producer(settings, new StringSerializer(), new ByteArraySerializer());
            producer = known;
        }
        return known;
    }

    /**
     * Sends; completes when the event is on the log, exceptionally when it was not taken within 2 min or when the service
     * has not read its changelog yet. Blocks at most 5 s while the broker is not known. Events of one caller keep their
     * order.
     */
    public CompletionStage<Void> send(EventDraft event) {
        var acknowledged = new CompletableFuture<Void>();
        try {
            synchronized (this) {
                renewProducer();
                ProducerRecord<String, byte[]> rec = numbers().nextFact(event);
                producer().send(rec, (_, failure) -> {
                    if (failure == null) {
                        acknowledged.complete(null);
                    } else {
                        failed = true;
                        acknowledged.completeExceptionally(failure);
                    }
                });
            }
        } catch (KafkaException | IllegalStateException notTaken) {
            failed = true;
            acknowledged.completeExceptionally(notTaken);
        }
        return acknowledged;
    }

    /**
     * An idempotent producer that was refused once, for example while its password was not known, refuses for ever, and one
     * from before our clock was set back is closed.
     */
    private void renewProducer() {
        long now = kafka.clockSetBacks();
        if (failed || now != setBacks) {
            close(Duration.ZERO);
            setBacks = now;
            failed = false;
        }
    }

    /** A producer that was refused before its first event is replaced at once: an observation is not made twice. */
    private EventSequencer numbers() {
        try {
            return sequencer();
        } catch (KafkaException refused) {
            failed = true;
            renewProducer();
            return sequencer();
        }
    }

    /** The incarnation is on the changelog before its first event, in the order of one producer. */
    private EventSequencer sequencer() {
        EventSequencer known = sequencer;
        if (known != null) {
            return known;
        }
        if (!incarnation.isDone()) {
            throw new IllegalStateException("own changelog is still being read, ask again in a moment");
        }
        long number = incarnation.join();
        var fresh = new EventSequencer(codec, source, number, clock);
        var message = WriterIncarnation.newBuilder().setIncarnation(number).build();
        var written = producer()
                .send(fresh.next(Outbound.Event.of(
                        changelog, EventType.WRITER_STARTED, WRITER_KEY + source.name(), message, clock.instant())));
        producer().flush();
        if (written.state() != Future.State.SUCCESS) {
            throw new KafkaException("the incarnation of " + source.name() + " was not written");
        }
        sequencer = fresh;
        return fresh;
    }

    @Override
    public synchronized void close() {
        close(CLOSE_TIMEOUT);
    }

    private void close(Duration timeout) {
        KafkaProducer<String, byte[]> known = producer;
        producer = null;
        if (known != null) {
            known.close(timeout);
        }
    }
}
