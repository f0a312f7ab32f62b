package io.gpufleet.runtime.follower;

import io.gpufleet.runtime.rights.RequiredRights;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the committed events of a topic: those of a time before the start, then what is appended. Skips what is unreadable,
 * and, with an error in the log, what its listener cannot take or retention removed; anything else that fails is tried again.
 */
public final class TopicFollower implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TopicFollower.class);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration RETRY = Duration.ofSeconds(2);
    /** Records that come one by one are read together: a broker looks at every partition of a request for each of them. */
    private static final Duration REST = Duration.ofMillis(100);

    private static final int MANY = 100;
    /** A consumer is not told that a topic was deleted and made anew, and reads on at its offset in the new one. */
    private static final Duration IDENTITY_INTERVAL = Duration.ofSeconds(30);

    /**
     * Topics that are read.
     *
     * @param since how far before the start, by append time
     * @param service name of the service that reads, whose principal needs the right
     */
    public record Followed(Topic topic, Duration since, String service) {}

    private final KafkaClients kafka;
    private final Codec codec;
    private final Followed followed;
    private final TopicListener listener;
    private final Clock clock;
    private final Duration identityInterval;
    private final Thread thread;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean open = true;
    /** Why the topic is not read now; empty while it is. Of the thread. */
    private String failure = "";

    private volatile @Nullable KafkaConsumer<String, byte[]> current;

    /** Follower that does not read yet, and will ask that often whether the topic is still the same. */
    TopicFollower(
            KafkaClients kafka,
            Codec codec,
            Followed followed,
            TopicListener listener,
            Clock clock,
            Duration identityInterval) {
        this.kafka = kafka;
        this.codec = codec;
        this.followed = followed;
        this.listener = listener;
        this.clock = clock;
        this.identityInterval = identityInterval;
        this.thread = Thread.ofPlatform().name(name(followed)).daemon().unstarted(this::run);
    }

    private static String name(Followed followed) {
        return followed.topic().suffix() + "-follower";
    }

    /** Starts the thread, which reads until it is closed and starts over after a failure. */
    public static TopicFollower start(
            KafkaClients kafka, Codec codec, Followed followed, TopicListener listener, Clock clock) {
        return new TopicFollower(kafka, codec, followed, listener, clock, IDENTITY_INTERVAL).start();
    }

    TopicFollower start() {
        thread.start();
        return this;
    }

    private void run() {
        while (open) {
            try (var consumer = consumer()) {
                current = consumer;
                follow(consumer);
            } catch (WakeupException closedOrSetBack) {
                LOG.atDebug().log("woken to end, or to read with another client after our clock was set back");
            } catch (RuntimeException failed) {
                retry(failed);
            }
        }
    }

    /** One line for each kind of failure, however often it is tried again. */
    private void retry(RuntimeException failed) {
        String reason = RequiredRights.toRead(followed.service(), codec.topics().name(followed.topic()))
                .refused(failed)
                .orElseGet(() -> String.valueOf(failed.getMessage()));
        if (open) {
            if (!reason.equals(failure)) {
                LOG.atWarn()
                        .addKeyValue("topic", codec.topics().name(followed.topic()))
                        .addKeyValue("error", reason)
                        .log("topic cannot be read, retrying");
            }
            failure = reason;
            pause(RETRY);
        }
    }

    private void follow(KafkaConsumer<String, byte[]> consumer) {
        Uuid identity = identity();
        long identified = System.nanoTime();
        Map<TopicPartition, Long> ends = seek(consumer);
        listener.started();
        boolean loaded = false;
        while (open) {
            if (System.nanoTime() - identified >= identityInterval.toNanos()) {
                if (!identity().equals(identity)) {
                    throw new IllegalStateException("topic was deleted and made anew: it is read anew");
                }
                identified = System.nanoTime();
            }
            ConsumerRecords<String, byte[]> records = poll(consumer);
            records.forEach(rec -> {
                if (codec.decode(rec) instanceof DecodedRecord.Event event) {
                    react(event);
                }
            });
            if (!loaded
                    && ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
                loaded = true;
                listener.loaded();
            }
            failure = "";
            if (loaded && !records.isEmpty() && records.count() < MANY) {
                pause(REST);
            }
        }
    }

    /** Of the topic of this name today; a client for each question, since the next one is due in half a minute. */
    private Uuid identity() {
        String name = codec.topics().name(followed.topic());
        try (Admin admin = kafka.admin(kafka.properties(name(followed)))) {
            return admin.describeTopics(List.of(name))
                    .allTopicNames()
                    .toCompletionStage()
                    .toCompletableFuture()
                    .join()
                    .values()
                    .iterator()
                    .next()
                    .topicId();
        }
    }

    private ConsumerRecords<String, byte[]> poll(KafkaConsumer<String, byte[]> consumer) {
        try {
            return consumer.poll(POLL);
        } catch (OffsetOutOfRangeException gone) {
            readOn(consumer, gone);
            return ConsumerRecords.empty();
        }
    }

    /** After what retention removed before it was read; another topic of the same name is one to begin anew with. */
    private static void readOn(KafkaConsumer<String, byte[]> consumer, OffsetOutOfRangeException gone) {
        Map<TopicPartition, Long> wanted = gone.offsetOutOfRangePartitions();
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(wanted.keySet());
        wanted.forEach((partition, offset) -> {
            long beginning = beginnings.getOrDefault(partition, 0L);
            if (beginning < offset) {
                throw new IllegalStateException("topic is shorter than what was read of it: it is read anew", gone);
            }
            LOG.atError()
                    .addKeyValue("topic", partition.topic())
                    .addKeyValue("partition", partition.partition())
                    .addKeyValue("offset", offset)
                    .addKeyValue("skipped", beginning - offset)
                    .log("broker no longer has this offset, reading from the beginning of what it has");
            consumer.seek(partition, beginning);
        });
    }

    private void react(DecodedRecord.Event event) {
        try {
            listener.event(event);
        } catch (RuntimeException refused) {
            LOG.atError()
                    .addKeyValue("topic", codec.topics().name(followed.topic()))
                    .addKeyValue("id", event.envelope().id())
                    .setCause(refused)
                    .log("event skipped");
        }
    }

    private void pause(Duration time) {
        try {
            // Never opened again: whoever closes it sets this at any moment.
            if (closed.await(time.toMillis(), TimeUnit.MILLISECONDS)) {
                open = false;
            }
        } catch (InterruptedException end) {
            open = false;
        }
    }

    private KafkaConsumer<String, byte[]> consumer() {
        var settings = kafka.properties(name(followed));
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        return kafka.consumer(settings, new StringDeserializer(), new ByteArrayDeserializer());
    }

    private Map<TopicPartition, Long> seek(KafkaConsumer<String, byte[]> consumer) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (int number = 0; number < followed.topic().partitions(); number++) {
            partitions.add(new TopicPartition(codec.topics().name(followed.topic()), number));
        }
        consumer.assign(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        long since = clock.instant().minus(followed.since()).toEpochMilli();
        Map<TopicPartition, Long> times = new HashMap<>();
        partitions.forEach(partition -> times.put(partition, since));
        consumer.offsetsForTimes(times).forEach((partition, found) -> {
            long end = ends.getOrDefault(partition, 0L);
            consumer.seek(partition, found == null ? end : Math.min(end, found.offset()));
        });
        return ends;
    }

    @Override
    public void close() {
        open = false;
        closed.countDown();
        // Not an interrupt, at which the consumer would log that it cannot be closed in order.
        KafkaConsumer<String, byte[]> consumer = current;
        if (consumer != null) {
            consumer.wakeup();
        }
    }
}
