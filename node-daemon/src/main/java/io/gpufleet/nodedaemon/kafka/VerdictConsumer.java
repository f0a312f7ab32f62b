package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.NodeSettings;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
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
 * Consumes this node's verdicts and settings from its partition of each topic. Uses the plain Kafka consumer on a thread of
 * its own: the Vert.x wrapper would only forward the calls needed (assign, end offsets, long poll), with a second thread.
 */
public final class VerdictConsumer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VerdictConsumer.class);
    private static final Duration RETRY_INTERVAL = Duration.ofSeconds(2);
    private static final Duration POLL_TIMEOUT = Duration.ofSeconds(5);
    private static final long RETRY_BACKOFF_MILLIS = 1_000;
    private static final long MAX_RECONNECT_MILLIS = 5_000;

    private final KafkaSettings settings;
    private final Consumer<Overlay> changed;
    private final VerdictFile file;
    private final BrokerOutage outage;
    private final List<CompactedKeyReader<?>> readers = new ArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private volatile @Nullable KafkaConsumer<byte[], byte[]> consumer;
    private volatile boolean caughtUp;
    private NodeVerdict latest;

    /** Loads the saved verdict; {@link #start} begins to consume. */
    public VerdictConsumer(KafkaSettings settings, Consumer<Overlay> changed) {
        this.settings = settings;
        this.changed = changed;
        this.outage = new BrokerOutage(settings.clients().bootstrap(), "READ", "saved verdicts stay in force");
        this.file = new VerdictFile(settings.stateDirectory());
        this.latest = file.load();
        readers.add(new CompactedKeyReader<>(
                settings, Topic.VERDICTS, NodeVerdict.class, NodeVerdict.getDefaultInstance(), this::apply));
        this.thread = Thread.ofPlatform().name("verdicts").daemon(true).unstarted(this::run);
    }

    /**
     * Also consumes the Node's settings: the name of the configuration in its label, or empty. Call before
     * {@link #start}.
     */
    public void alsoFollowLabel(Consumer<String> label) {
        readers.add(new CompactedKeyReader<>(
                settings,
                Topic.SETTINGS,
                NodeSettings.class,
                NodeSettings.getDefaultInstance(),
                chosen -> label.accept(chosen.getDevicePluginConfig())));
    }

    /** The verdict saved by an earlier daemon. */
    public Overlay storedOverlay() {
        return VerdictMessageMapper.overlay(latest);
    }

    /** Starts consuming on a thread that takes over the priority of the caller's. */
    public void start() {
        thread.start();
    }

    /** Whether the partitions were read to their end since the start. */
    public boolean caughtUp() {
        return caughtUp;
    }

    /** Why the daemon is not ready: the broker refuses to be read. */
    public Optional<String> readinessFailure() {
        return outage.readinessFailure();
    }

    private void run() {
        try {
            while (BrokerProbe.awaitListening(settings.clients().bootstrap(), closed)) {
                try (var opened = settings.clients()
                        .consumer(properties(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                    consumer = opened;
                    follow(opened);
                } catch (WakeupException closedOrSetBack) {
                    LOG.atDebug().log("woken to end, or to read with another client after our clock was set back");
                } catch (KafkaException failed) {
                    outage.log(failed);
                } catch (RuntimeException | Error defect) {
                    LOG.atError().setCause(defect).log("verdicts could not be applied, they are read again");
                } finally {
                    consumer = null;
                }
                if (closed.await(RETRY_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void follow(KafkaConsumer<byte[], byte[]> opened) {
        List<TopicPartition> partitions =
                readers.stream().map(CompactedKeyReader::partition).toList();
        opened.assign(partitions);
        opened.seekToBeginning(partitions);
        Map<TopicPartition, Long> ends = opened.endOffsets(partitions);
        readers.forEach(key -> key.restart(ends.getOrDefault(key.partition(), 0L)));
        while (closed.getCount() > 0) {
            boolean all = true;
            for (CompactedKeyReader<?> key : readers) {
                all &= key.isCaughtUp(opened.position(key.partition()));
            }
            if (all) {
                outage.accepted();
                outage.ended();
                caughtUp = true;
            }
            for (var rec : opened.poll(POLL_TIMEOUT)) {
                readers.stream()
                        .filter(key -> key.partition().topic().equals(rec.topic()))
                        .forEach(key -> key.accept(rec));
            }
        }
    }

    private void apply(NodeVerdict verdict) {
        if (!verdict.equals(latest)) {
            changed.accept(VerdictMessageMapper.overlay(verdict));
            file.save(verdict);
            // Last, so that one whose application failed is applied when it is read again.
            latest = verdict;
        }
    }

    private Properties properties() {
        Properties properties = settings.clients().properties("node-daemon-" + settings.node());
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 20_000);
        properties.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 1024 * 1024);
        properties.put(ConsumerConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        properties.put(ConsumerConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        // While no broker answers the client looks once in this time, not ten times a second.
        properties.put(ConsumerConfig.RETRY_BACKOFF_MS_CONFIG, RETRY_BACKOFF_MILLIS);
        properties.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, MAX_RECONNECT_MILLIS);
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
