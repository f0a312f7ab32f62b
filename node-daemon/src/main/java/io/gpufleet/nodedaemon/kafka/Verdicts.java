package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Decoded;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the verdicts of this node from the one partition where they stand. The plain consumer on a thread of its own:
 * what is asked for here (assign, end offsets, a long poll) the Vert.x wrapper only forwards, at the price of a second
 * thread.
 */
public final class Verdicts implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Verdicts.class);
    private static final Duration RETRY = Duration.ofSeconds(2);
    private static final Duration POLL = Duration.ofSeconds(5);

    private final BusSettings settings;
    private final Consumer<Overlay> changed;
    private final OverlayFile file;
    private final byte[] key;
    private final Codec codec;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private volatile @Nullable KafkaConsumer<byte[], byte[]> consumer;
    private volatile boolean caughtUp;
    private NodeVerdict newest;
    private boolean said;

    /** Reads what was kept, and begins to follow. */
    public Verdicts(BusSettings settings, Consumer<Overlay> changed) {
        this.settings = settings;
        this.changed = changed;
        this.file = new OverlayFile(settings.stateDirectory());
        this.newest = file.load();
        this.key = settings.node().getBytes(StandardCharsets.UTF_8);
        this.codec = new Codec(settings.cluster(), new Topics(settings.topicPrefix()));
        this.thread = Thread.ofPlatform().name("verdicts").daemon(true).unstarted(this::run);
    }

    /** What was kept by an earlier start. */
    public Overlay kept() {
        return VerdictMessages.overlay(newest);
    }

    /** Begins to follow. */
    public void start() {
        thread.start();
    }

    /** Whether the partition was read to its end since the start. */
    public boolean caughtUp() {
        return caughtUp;
    }

    private void run() {
        try {
            while (closed.getCount() > 0) {
                try (var opened =
                        new KafkaConsumer<>(properties(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                    consumer = opened;
                    follow(opened);
                } catch (WakeupException stop) {
                    return;
                } catch (KafkaException away) {
                    sayAway(away);
                } finally {
                    consumer = null;
                }
                if (closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void sayAway(KafkaException away) {
        if (!said) {
            LOG.atWarn()
                    .addKeyValue("kafka", settings.bootstrap())
                    .addKeyValue("error", String.valueOf(away.getMessage()))
                    .log("verdicts can not be read, those kept stay in force; check GPUFLEET_KAFKA and the topics");
        }
        said = true;
    }

    private void follow(KafkaConsumer<byte[], byte[]> opened) {
        var partition = new TopicPartition(
                new Topics(settings.topicPrefix()).name(Topic.VERDICTS),
                Topics.partition(Topic.VERDICTS, settings.node()));
        opened.assign(List.of(partition));
        opened.seekToBeginning(List.of(partition));
        long end = opened.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
        NodeVerdict atEnd = NodeVerdict.getDefaultInstance();
        boolean reading = true;
        while (closed.getCount() > 0) {
            if (reading && opened.position(partition) >= end) {
                // What stands in the topic replaces what was kept, also when nothing stands there.
                reading = false;
                said = false;
                caughtUp = true;
                adopt(atEnd);
            }
            for (var rec : opened.poll(POLL)) {
                Optional<NodeVerdict> verdict = ours(rec);
                if (verdict.isPresent()) {
                    atEnd = verdict.get();
                    if (!reading) {
                        adopt(atEnd);
                    }
                }
            }
        }
    }

    private void adopt(NodeVerdict verdict) {
        if (!verdict.equals(newest)) {
            newest = verdict;
            changed.accept(VerdictMessages.overlay(verdict));
            file.save(verdict);
        }
    }

    /** Looks at the key's bytes first: the partition carries many other nodes. */
    private Optional<NodeVerdict> ours(ConsumerRecord<byte[], byte[]> rec) {
        if (!Arrays.equals(key, rec.key())) {
            return Optional.empty();
        }
        var named = new ConsumerRecord<>(
                rec.topic(),
                rec.partition(),
                rec.offset(),
                rec.timestamp(),
                rec.timestampType(),
                rec.serializedKeySize(),
                rec.serializedValueSize(),
                settings.node(),
                rec.value(),
                rec.headers(),
                rec.leaderEpoch());
        return switch (codec.decode(named)) {
            case Decoded.Tombstone _ -> Optional.of(NodeVerdict.getDefaultInstance());
            case Decoded.Event event when event.payload() instanceof NodeVerdict verdict -> Optional.of(verdict);
            case Decoded.Event event -> unreadable(rec, "a " + event.envelope().type());
            case Decoded.Poison(String reason) -> unreadable(rec, reason);
        };
    }

    private static Optional<NodeVerdict> unreadable(ConsumerRecord<byte[], byte[]> rec, String reason) {
        LOG.atWarn()
                .addKeyValue("topic", rec.topic())
                .addKeyValue("partition", rec.partition())
                .addKeyValue("offset", rec.offset())
                .addKeyValue("reason", reason)
                .log("a verdict can not be read, the one before stays in force");
        return Optional.empty();
    }

    private Map<String, Object> properties() {
        var properties = new HashMap<String, Object>();
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrap());
        properties.put(ConsumerConfig.CLIENT_ID_CONFIG, "node-daemon-" + settings.node());
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 20_000);
        properties.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 1024 * 1024);
        properties.put(ConsumerConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        properties.put(ConsumerConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        properties.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000L);
        return properties;
    }

    @Override
    public void close() {
        closed.countDown();
        KafkaConsumer<byte[], byte[]> open = consumer;
        if (open != null) {
            open.wakeup();
        }
    }
}
