package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * One Kafka producer. Records never time out in it: the publisher decides when the broker has taken too long, closes the
 * producer and sends every unacknowledged event again, in order. So no event overtakes another, and an event's age is that
 * of the send that reached the broker.
 */
final class ProducerConnection {
    private static final List<Topic> TOPICS = List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY);
    /** Several times what the publisher has in flight, so that a send never waits for memory. */
    private static final long BUFFER_BYTES = 4L * 1024 * 1024;
    /** While no broker answers, so that a client that waits for one costs next to nothing. */
    private static final long MAX_RECONNECT_MILLIS = 5_000;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration MAX_PAUSE = Duration.ofSeconds(1);

    private final Producer<String, byte[]> producer;
    private final BooleanSupplier ended;
    private final CountDownLatch aborted = new CountDownLatch(1);

    ProducerConnection(Producer<String, byte[]> producer) {
        this(producer, () -> false);
    }

    private ProducerConnection(Producer<String, byte[]> producer, BooleanSupplier ended) {
        this.producer = producer;
        this.ended = ended;
    }

    /** Creates producers as {@link #create} does. */
    static Function<CountDownLatch, ProducerConnection> factory(KafkaSettings settings) {
        return stopped -> create(settings, stopped);
    }

    /**
     * Creates a producer. Blocks until a broker listens; throws if no address can be resolved, and when the latch goes down
     * before.
     */
    private static ProducerConnection create(KafkaSettings settings, CountDownLatch stopped) {
        try {
            if (!BrokerProbe.awaitListening(settings.clients().bootstrap(), stopped)) {
                throw new KafkaException("stopped before a broker listened");
            }
        } catch (InterruptedException stop) {
            throw new InterruptException(stop);
        }
        long setBacks = settings.clients().clockSetBacks();
        return new ProducerConnection(
                settings.clients().producer(properties(settings), new StringSerializer(), new ByteArraySerializer()),
                () -> settings.clients().clockSetBacks() != setBacks);
    }

    /** Blocks until the broker has returned metadata of every topic of a daemon, or until {@link #abort}; aborts if it fails. */
    void awaitTopics(Topics topics) {
        try {
            for (Topic topic : TOPICS) {
                awaitTopic(topics.name(topic));
            }
        } catch (RuntimeException | Error failed) {
            abort(() -> {});
            throw failed;
        }
    }

    private void awaitTopic(String name) {
        Duration pause = FIRST_PAUSE;
        while (true) {
            try {
                producer.partitionsFor(name);
                return;
            } catch (TimeoutException unknownYet) {
                pause(pause);
                pause = pause.multipliedBy(2).compareTo(MAX_PAUSE) < 0 ? pause.multipliedBy(2) : MAX_PAUSE;
            }
        }
    }

    /** After {@link #abort} it is over at once, and the producer throws another exception. */
    private void pause(Duration pause) {
        try {
            boolean _ = aborted.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException stop) {
            throw new InterruptException(stop);
        }
    }

    /**
     * Sends at once. What fails before it is sent is reported on the calling thread, before this returns; then nothing may
     * be sent any more.
     */
    void send(ProducerRecord<String, byte[]> event, Callback acknowledged) {
        var _ = producer.send(event, acknowledged);
    }

    /** Whether the producer was closed since our clock was set back: the broker has nothing to do with it. */
    boolean isEnded() {
        return ended.getAsBoolean();
    }

    /** Whether the broker would refuse the record again, however often it is sent. */
    static boolean isRejected(Throwable failure) {
        return failure instanceof RecordTooLargeException || failure instanceof InvalidTimestampException;
    }

    /**
     * Closes the producer on a thread of its own, then runs {@code closed}. The timeout must be zero: with one millisecond
     * kafka-clients use it up before they join their thread, and then join it without a limit.
     */
    void abort(Runnable closed) {
        aborted.countDown();
        Thread.ofPlatform().name("kafka-close").daemon(true).start(() -> {
            try {
                producer.close(Duration.ZERO);
            } finally {
                closed.run();
            }
        });
    }

    private static Properties properties(KafkaSettings settings) {
        Properties properties = settings.clients().properties("node-daemon-" + settings.node());
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        // A broker that starts may refuse one request and take the next; it does not know the producer yet, so it takes
        // any first sequence number, and the later events would be ahead of the earlier ones for ever.
        properties.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
        properties.put(ProducerConfig.LINGER_MS_CONFIG, 0);
        properties.put(ProducerConfig.BUFFER_MEMORY_CONFIG, BUFFER_BYTES);
        // A send is made on the publisher's thread: without metadata of its topic it fails soon, and all are sent
        // again.
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 100L);
        properties.put(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, MAX_RECONNECT_MILLIS);
        properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000);
        properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.MAX_VALUE);
        // gpu.inventory has no events for hours; its metadata must be cached when one is sent.
        properties.put(ProducerConfig.METADATA_MAX_IDLE_CONFIG, 24L * 60 * 60 * 1000);
        // Neither JMX nor metrics pushed to the broker: they are not read, and cost megabytes.
        properties.put(ProducerConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        properties.put(ProducerConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        return properties;
    }
}
