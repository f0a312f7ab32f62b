package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.NodeSettings;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the verdicts of this node, and its settings, from the one partition of each topic where they stand. The plain
 * consumer on a thread of its own: what is asked for here (assign, end offsets, a long poll) the Vert.x wrapper only
 * forwards, at the price of a second thread.
 */
public final class Verdicts implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Verdicts.class);
    private static final Duration RETRY = Duration.ofSeconds(2);
    private static final Duration POLL = Duration.ofSeconds(5);

    private final BusSettings settings;
    private final Consumer<Overlay> changed;
    private final OverlayFile file;
    private final List<NodeKey<?>> keys = new ArrayList<>();
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
        keys.add(new NodeKey<>(
                settings, Topic.VERDICTS, NodeVerdict.class, NodeVerdict.getDefaultInstance(), this::adopt));
        this.thread = Thread.ofPlatform().name("verdicts").daemon(true).unstarted(this::run);
    }

    /**
     * Reads the Node's settings as well: the configuration that its label names, empty where it names none. To be called
     * before the start.
     */
    public void alsoLabel(Consumer<String> label) {
        keys.add(new NodeKey<>(
                settings,
                Topic.SETTINGS,
                NodeSettings.class,
                NodeSettings.getDefaultInstance(),
                chosen -> label.accept(chosen.getDevicePluginConfig())));
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
        List<TopicPartition> partitions = keys.stream().map(NodeKey::partition).toList();
        opened.assign(partitions);
        opened.seekToBeginning(partitions);
        Map<TopicPartition, Long> ends = opened.endOffsets(partitions);
        keys.forEach(key -> key.begin(ends.getOrDefault(key.partition(), 0L)));
        while (closed.getCount() > 0) {
            boolean all = true;
            for (NodeKey<?> key : keys) {
                all &= key.reached(opened.position(key.partition()));
            }
            if (all) {
                said = false;
                caughtUp = true;
            }
            for (var rec : opened.poll(POLL)) {
                keys.stream()
                        .filter(key -> key.partition().topic().equals(rec.topic()))
                        .forEach(key -> key.take(rec));
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
